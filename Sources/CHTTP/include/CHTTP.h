#ifndef CHTTP_h
#define CHTTP_h

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A narrow face over libmicrohttpd. Its own headers are full of variadic functions and of enums that
// changed names between versions; Swift sees the five calls below and nothing else.
//
// One thread of the server's own accepts, reads, calls the handler and writes. Handlers therefore
// run one at a time, and a slow one delays every other request.

typedef struct chttp_server chttp_server;
typedef struct chttp_response chttp_response;

/// One request. Borrowed: lives until the handler returns.
typedef struct {
  const char *method;
  /// Without the query, percent-decoded.
  const char *path;
  /// For chttp_request_has_argument.
  void *connection;
} chttp_request;

/// Answers one request by calling chttp_respond exactly once.
typedef void (*chttp_handler)(void *context, const chttp_request *request,
                              chttp_response *response);

typedef struct {
  /// A numeric IPv4 or IPv6 address: nothing is looked up.
  const char *address;
  /// 0: any free port; chttp_server_port tells which.
  uint16_t port;
  /// Connections at once. When all are taken, the oldest is closed for the next one, so that
  /// clients that hold on to theirs never keep a probe out.
  unsigned connections_max;
  /// A connection on which nothing moves for so long is closed.
  unsigned idle_seconds_max;
  /// Bytes of memory a connection may take: request line and headers must fit in it, else the
  /// answer is 414 or 431.
  size_t connection_bytes_max;
} chttp_options;

/// Starts serving. NULL on failure, with the reason in `error` (NUL-terminated, cut to fit).
chttp_server *chttp_server_start(const chttp_options *options, chttp_handler handler,
                                 void *context, char *error, size_t error_bytes);

/// The port that is listened on.
uint16_t chttp_server_port(const chttp_server *server);

/// Stops accepting, closes every connection, joins the thread. No handler runs after it returned.
/// Never from inside a handler.
void chttp_server_stop(chttp_server *server);

/// Whether the query has an argument of that name, with or without a value.
bool chttp_request_has_argument(const chttp_request *request, const char *name);

/// Answers. `body` is copied; for HEAD its length is told and the bytes are left out.
/// `allow` is the value of the Allow header, or NULL.
void chttp_respond(chttp_response *response, unsigned status, const char *content_type,
                   const char *allow, const void *body, size_t body_bytes);

#endif
