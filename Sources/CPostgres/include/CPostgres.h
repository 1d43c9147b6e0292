// PostgreSQL's client library as Swift can use it. What Swift imports well is called directly; here
// stands what it cannot call: a character constant, and the wait on a socket with a bound.
#ifndef CPostgres_h
#define CPostgres_h

#include <postgresql/libpq-fe.h>

// The five letters of a failed statement's error; "" where there is none.
const char *cpostgres_state(const PGresult *result);

// Waits until the socket can be read, or also written; for no longer than so many milliseconds.
// 1: it can, or libpq knows why not; 0: the time is over; -1: a signal came in between.
int cpostgres_wait(const PGconn *connection, int also_write, int timeout_ms);

#endif
