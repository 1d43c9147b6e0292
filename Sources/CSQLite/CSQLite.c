#include "CSQLite.h"

int csqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, size_t size) {
  // Without bytes, a null pointer would bind NULL.
  return sqlite3_bind_text64(statement, index, size ? bytes : "", size, SQLITE_TRANSIENT,
                             SQLITE_UTF8);
}

int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t size) {
  if (size == 0) return sqlite3_bind_zeroblob(statement, index, 0);
  return sqlite3_bind_blob64(statement, index, bytes, size, SQLITE_TRANSIENT);
}

int csqlite_make_strict(sqlite3 *connection) {
  const int options[] = {SQLITE_DBCONFIG_DEFENSIVE, SQLITE_DBCONFIG_DQS_DML,
                         SQLITE_DBCONFIG_DQS_DDL, SQLITE_DBCONFIG_TRUSTED_SCHEMA};
  const int wanted[] = {1, 0, 0, 0};
  for (int i = 0; i < 4; i++) {
    int code = sqlite3_db_config(connection, options[i], wanted[i], (int *)0);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}
