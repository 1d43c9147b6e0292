#ifndef CHTTP_h
#define CHTTP_h

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A narrow face over libmicrohttpd. Its own headers are full of variadic functions and of enums that
// changed names between versions; Swift sees the calls below and nothing else.

typedef struct chttp_server chttp_server;
typedef struct chttp_response chttp_response;

/// What became of a request's body.
typedef enum {
  /// None was announced.
  CHTTP_BODY_NONE,
  /// All of it is there.
  CHTTP_BODY_WHOLE,
  /// It is longer than `body_bytes_max`.
  CHTTP_BODY_TOO_LARGE,
  /// It comes in chunks, and its length is told by nobody beforehand.
  CHTTP_BODY_LENGTH_UNKNOWN,
  /// Two headers contradict each other about where it ends: what one of two parties takes for the
  /// body is the next request to the other.
  CHTTP_BODY_AMBIGUOUS,
} chttp_body;

/// One request. Borrowed: lives until the handler returns.
typedef struct {
  const char *method;
  /// As it was sent, without the query: percent escapes are the reader's to decode, once, after it
  /// has split the path.
  const char *path;
  chttp_body body_state;
  /// NULL unless `body_state` is CHTTP_BODY_WHOLE.
  const uint8_t *body;
  size_t body_bytes;
  /// For the calls below.
  void *connection;
} chttp_request;

typedef struct {
  const char *name;
  const char *value;
} chttp_header;

/// Answers one request by calling chttp_respond exactly once. Called from the server's threads, from
/// several at a time where there are several.
typedef void (*chttp_handler)(void *context, const chttp_request *request,
                              chttp_response *response);

/// `value` is NULL for an argument without `=`.
typedef void (*chttp_visitor)(void *context, const char *name, size_t name_bytes,
                              const char *value, size_t value_bytes);

typedef struct {
  /// A numeric IPv4 or IPv6 address: nothing is looked up.
  const char *address;
  /// 0: any free port; chttp_server_port tells which.
  uint16_t port;
  /// 1: one thread accepts, reads, calls the handler and writes, so that handlers run one at a time
  /// and a slow one delays every other request. More: so many of these threads share the
  /// connections. 0: a thread for each connection, so that a handler that waits delays nobody else.
  unsigned threads;
  /// Connections at once. When all are taken, the one that has been without a request for longest is
  /// closed for the next one, so that clients that hold on to theirs never keep others out.
  unsigned connections_max;
  /// A connection on which nothing moves for so long is closed.
  unsigned idle_seconds_max;
  /// Bytes of memory a connection may take: request line and headers must fit in it, else the
  /// answer is 414 or 431.
  size_t connection_bytes_max;
  /// Longer bodies are not kept.
  size_t body_bytes_max;
  /// A body too long to keep, but not longer than this, is read to its end and thrown away before
  /// the answer: a client that is cut off while it still sends often never sees the answer. A longer
  /// one is answered at once, unread, and the connection closed.
  size_t body_discard_bytes_max;
  /// After a stop is asked for, how long requests that have begun may take to be answered.
  unsigned drain_ms;
  /// Certificate chain and private key in PEM; both NULL: no TLS. Needed only during the call.
  const char *tls_certificate, *tls_key;
} chttp_options;

/// Starts serving. NULL on failure, with the reason in `error` (NUL-terminated, cut to fit).
chttp_server *chttp_server_start(const chttp_options *options, chttp_handler handler,
                                 void *context, char *error, size_t error_bytes);

/// The port that is listened on.
uint16_t chttp_server_port(const chttp_server *server);

/// Stops accepting, waits for requests that have begun (up to `drain_ms`), closes every connection,
/// joins the threads. No handler runs after it returned. Never from inside a handler.
void chttp_server_stop(chttp_server *server);

/// Every header in the order it came; a name may come again.
void chttp_request_each_header(const chttp_request *request, chttp_visitor visitor, void *context);

/// Every argument of the query, as it was sent but for `+`, which is a blank here.
void chttp_request_each_argument(const chttp_request *request, chttp_visitor visitor,
                                 void *context);

/// The client's address as 4 or 16 bytes; returns how many, 0 where it is not known.
size_t chttp_request_address(const chttp_request *request, uint8_t address[16]);

/// Answers. `body` is copied; for HEAD its length is told and the bytes are left out. Beside
/// `headers` the answer says `Cache-Control: no-store` and `X-Content-Type-Options: nosniff`.
void chttp_respond(chttp_response *response, unsigned status, const chttp_header *headers,
                   size_t header_count, const void *body, size_t body_bytes);

#endif
