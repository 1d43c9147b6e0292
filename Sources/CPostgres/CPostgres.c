#include "CPostgres.h"

#include <errno.h>
#include <poll.h>

const char *cpostgres_state(const PGresult *result) {
  const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  return state ? state : "";
}

int cpostgres_wait(const PGconn *connection, int also_write, int timeout_ms) {
  // A connection that was lost has no socket; reading it then says why.
  struct pollfd one = {PQsocket(connection), also_write ? POLLIN | POLLOUT : POLLIN, 0};
  if (one.fd < 0) return 1;
  int ready = poll(&one, 1, timeout_ms < 0 ? 0 : timeout_ms);
  if (ready < 0) return errno == EINTR ? -1 : 1;
  return ready > 0;
}
