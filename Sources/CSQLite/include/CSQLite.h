// SQLite as Swift can use it. What Swift imports well is called directly; here stands what it cannot
// call: variadic functions, and the destructor constants, which are casts of numbers.
#ifndef CSQLite_h
#define CSQLite_h

#include <sqlite3.h>
#include <stddef.h>

// Text and bytes are copied: the statement outlives what is bound to it.
int csqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, size_t size);
int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t size);

// Double quotes name columns and nothing else, and no statement can write SQLite's own tables: a
// mistyped name is an error, not a string that compares equal to nothing.
int csqlite_make_strict(sqlite3 *connection);

#endif
