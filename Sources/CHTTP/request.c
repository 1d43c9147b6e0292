#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server.h"

// One request between its headers and its answer.
struct exchange {
  chttp_body body_state;
  uint8_t *body;
  size_t body_bytes, body_capacity;
};

struct chttp_response {
  struct MHD_Connection *connection;
  enum MHD_Result queued;
  bool answered;
};

struct visit {
  chttp_visitor visitor;
  void *context;
};

static enum MHD_Result pass_on(void *context, enum MHD_ValueKind kind, const char *name,
                               size_t name_bytes, const char *value, size_t value_bytes) {
  (void)kind;
  struct visit *visit = context;
  visit->visitor(visit->context, name, name_bytes, value, value_bytes);
  return MHD_YES;
}

void chttp_request_each_header(const chttp_request *request, chttp_visitor visitor,
                               void *context) {
  struct visit visit = {visitor, context};
  MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, pass_on, &visit);
}

void chttp_request_each_argument(const chttp_request *request, chttp_visitor visitor,
                                 void *context) {
  struct visit visit = {visitor, context};
  MHD_get_connection_values_n(request->connection, MHD_GET_ARGUMENT_KIND, pass_on, &visit);
}

size_t chttp_request_address(const chttp_request *request, uint8_t address[16]) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  if (info == NULL || info->client_addr == NULL) return 0;
  if (info->client_addr->sa_family == AF_INET) {
    memcpy(address, &((const struct sockaddr_in *)info->client_addr)->sin_addr, 4);
    return 4;
  }
  if (info->client_addr->sa_family != AF_INET6) return 0;
  memcpy(address, &((const struct sockaddr_in6 *)info->client_addr)->sin6_addr, 16);
  return 16;
}

void chttp_respond(chttp_response *response, unsigned status, const chttp_header *headers,
                   size_t header_count, const void *body, size_t body_bytes) {
  if (response->answered) abort();  // a handler that answers twice is a bug in this program
  response->answered = true;
  struct MHD_Response *made =
      MHD_create_response_from_buffer(body_bytes, (void *)body, MHD_RESPMEM_MUST_COPY);
  if (made == NULL) return;  // out of memory: the connection is closed without an answer
  // What is served changes from second to second and is never a page of somebody else's choosing.
  MHD_add_response_header(made, "Cache-Control", "no-store");
  MHD_add_response_header(made, "X-Content-Type-Options", "nosniff");
  for (size_t i = 0; i < header_count; i++)
    MHD_add_response_header(made, headers[i].name, headers[i].value);
  response->queued = MHD_queue_response(response->connection, status, made);
  MHD_destroy_response(made);
}

struct framing {
  unsigned lengths, encodings;
  uint64_t length;
};

static void note_framing(void *context, const char *name, size_t name_bytes, const char *value,
                         size_t value_bytes) {
  struct framing *framing = context;
  if (name_bytes == 14 && strncasecmp(name, "Content-Length", 14) == 0) {
    framing->lengths++;
    // libmicrohttpd has refused what is no number, or too large a one.
    for (size_t i = 0; i < value_bytes && value[i] >= '0' && value[i] <= '9'; i++)
      framing->length = framing->length * 10 + (uint64_t)(value[i] - '0');
  } else if (name_bytes == 17 && strncasecmp(name, "Transfer-Encoding", 17) == 0) {
    framing->encodings++;
  }
}

// Fills in what is to be done with the body; false where the request is to be answered unread.
static bool plan_body(const chttp_server *server, struct MHD_Connection *connection,
                      struct exchange *exchange) {
  struct framing framing = {0, 0, 0};
  chttp_request request = {.connection = connection};
  chttp_request_each_header(&request, note_framing, &framing);
  if (framing.lengths + framing.encodings > 1) {
    exchange->body_state = CHTTP_BODY_AMBIGUOUS;
    return false;
  }
  if (framing.encodings > 0) {
    exchange->body_state = CHTTP_BODY_LENGTH_UNKNOWN;
    return false;
  }
  if (framing.length == 0) return true;
  if (framing.length > server->body_bytes_max) {
    exchange->body_state = CHTTP_BODY_TOO_LARGE;
    return framing.length <= server->body_discard_bytes_max;
  }
  exchange->body_state = CHTTP_BODY_WHOLE;
  exchange->body_capacity = (size_t)framing.length;
  exchange->body = malloc(exchange->body_capacity);
  if (exchange->body == NULL) abort();
  return true;
}

static enum MHD_Result answer(chttp_server *server, struct MHD_Connection *connection,
                              const char *method, const char *path, struct exchange *exchange) {
  chttp_request request = {method,         path,       exchange->body_state,
                           exchange->body, exchange->body_bytes, connection};
  chttp_response response = {connection, MHD_NO, false};
  server->handler(server->context, &request, &response);
  if (!response.answered) abort();
  return response.queued;
}

// libmicrohttpd calls first when the headers are in, then for each piece of a body, then once more.
// An answer on the first call makes it close the connection without reading a body; an answer on the
// last keeps the connection. In between no answer is possible.
enum MHD_Result chttp_serve(void *context, struct MHD_Connection *connection, const char *path,
                            const char *method, const char *version, const char *upload,
                            size_t *upload_bytes, void **request_state) {
  (void)version;
  chttp_server *server = context;
  struct exchange *exchange = *request_state;
  if (exchange == NULL) {
    exchange = calloc(1, sizeof *exchange);
    if (exchange == NULL) abort();
    *request_state = exchange;
    pthread_mutex_lock(&server->lock);
    server->requests++;
    pthread_mutex_unlock(&server->lock);
    if (!plan_body(server, connection, exchange)) {
      chttp_touch(server, connection);
      return answer(server, connection, method, path, exchange);
    }
    return MHD_YES;
  }
  if (*upload_bytes > 0) {
    if (exchange->body_state == CHTTP_BODY_WHOLE) {
      size_t room = exchange->body_capacity - exchange->body_bytes;
      if (*upload_bytes > room) return MHD_NO;  // more than was announced: never seen
      memcpy(exchange->body + exchange->body_bytes, upload, *upload_bytes);
      exchange->body_bytes += *upload_bytes;
    }
    *upload_bytes = 0;
    return MHD_YES;
  }
  chttp_touch(server, connection);
  return answer(server, connection, method, path, exchange);
}

void chttp_request_over(void *context, struct MHD_Connection *connection, void **request_state,
                        enum MHD_RequestTerminationCode code) {
  (void)connection;
  (void)code;
  struct exchange *exchange = *request_state;
  if (exchange == NULL) return;
  *request_state = NULL;
  free(exchange->body);
  free(exchange);
  chttp_server *server = context;
  pthread_mutex_lock(&server->lock);
  if (--server->requests == 0) pthread_cond_signal(&server->idle);
  pthread_mutex_unlock(&server->lock);
}
