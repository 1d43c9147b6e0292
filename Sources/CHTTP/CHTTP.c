#include "CHTTP.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// A connection in the order of arrival, so that the oldest can be found when all slots are taken.
struct connection {
  int socket;
  struct connection *older, *newer;
};

struct chttp_server {
  struct MHD_Daemon *daemon;
  chttp_handler handler;
  void *context;
  uint16_t port;
  // Touched by the server's thread alone.
  unsigned connections, connections_max;
  struct connection *oldest, *newest;
};

struct chttp_response {
  struct MHD_Connection *connection;
  enum MHD_Result queued;
  bool answered;
};

void chttp_respond(chttp_response *response, unsigned status, const char *content_type,
                   const char *allow, const void *body, size_t body_bytes) {
  if (response->answered) abort();  // a handler that answers twice is a bug in this program
  response->answered = true;
  struct MHD_Response *made =
      MHD_create_response_from_buffer(body_bytes, (void *)body, MHD_RESPMEM_MUST_COPY);
  if (made == NULL) return;  // out of memory: the connection is closed without an answer
  MHD_add_response_header(made, "Content-Type", content_type);
  // What is served changes from second to second and is never a page of somebody else's choosing.
  MHD_add_response_header(made, "Cache-Control", "no-store");
  MHD_add_response_header(made, "X-Content-Type-Options", "nosniff");
  if (allow != NULL) MHD_add_response_header(made, "Allow", allow);
  response->queued = MHD_queue_response(response->connection, status, made);
  MHD_destroy_response(made);
}

struct argument_search {
  const char *name;
  bool found;
};

static enum MHD_Result compare_argument(void *context, enum MHD_ValueKind kind, const char *key,
                                        const char *value) {
  (void)kind;
  (void)value;
  struct argument_search *search = context;
  search->found = strcmp(key, search->name) == 0;
  return search->found ? MHD_NO : MHD_YES;
}

bool chttp_request_has_argument(const chttp_request *request, const char *name) {
  struct argument_search search = {name, false};
  MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, compare_argument, &search);
  return search.found;
}

static bool announces_body(struct MHD_Connection *connection) {
  const char *length =
      MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
  return (length != NULL && strcmp(length, "0") != 0) ||
         MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                     MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL;
}

// libmicrohttpd calls first when the headers are in, then for each piece of a body, then once more.
// An answer on the first call makes it close the connection without reading a body; an answer on the
// last keeps the connection. No route takes a body so far, so one that is announced is answered on
// the first call. A route that does take one would wait here instead, gather the pieces in
// `*request_state` up to a limit, and answer on the last call.
static enum MHD_Result serve(void *context, struct MHD_Connection *connection, const char *path,
                             const char *method, const char *version, const char *upload,
                             size_t *upload_bytes, void **request_state) {
  (void)version;
  (void)upload;
  (void)upload_bytes;
  if (*request_state == NULL && !announces_body(connection)) {
    *request_state = connection;  // any address: the headers have been seen
    return MHD_YES;
  }
  chttp_server *server = context;
  chttp_request request = {method, path, connection};
  chttp_response response = {connection, MHD_NO, false};
  server->handler(server->context, &request, &response);
  if (!response.answered) abort();
  return response.queued;
}

// libmicrohttpd stops accepting when all slots are taken, and its time-out counts from the last byte,
// so a client that sends a byte now and then holds a slot for ever. Whoever takes the last slot
// therefore pushes out the oldest: its socket is shut down here, on the thread that owns it, and
// closed by the loop when it next looks.
static void make_room(chttp_server *server) {
  if (server->connections >= server->connections_max) shutdown(server->oldest->socket, SHUT_RDWR);
}

static void track(void *context, struct MHD_Connection *connection, void **slot,
                  enum MHD_ConnectionNotificationCode code) {
  chttp_server *server = context;
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    struct connection *entry = calloc(1, sizeof *entry);
    if (entry == NULL) abort();
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    entry->socket = info->connect_fd;
    entry->older = server->newest;
    if (server->newest != NULL) server->newest->newer = entry;
    server->newest = entry;
    if (server->oldest == NULL) server->oldest = entry;
    server->connections++;
    *slot = entry;
    make_room(server);
  } else {
    struct connection *entry = *slot;
    if (entry->older != NULL) entry->older->newer = entry->newer;
    else server->oldest = entry->newer;
    if (entry->newer != NULL) entry->newer->older = entry->older;
    else server->newest = entry->older;
    server->connections--;
    free(entry);
  }
}

// What libmicrohttpd would print about a client's mistakes: those are not this process's news.
static void ignore_log(void *context, const char *format, va_list arguments) {
  (void)context;
  (void)format;
  (void)arguments;
}

static socklen_t parse_address(const char *text, uint16_t port, struct sockaddr_storage *out) {
  memset(out, 0, sizeof *out);
  struct sockaddr_in *v4 = (struct sockaddr_in *)out;
  if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    return sizeof *v4;
  }
  struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
  memset(out, 0, sizeof *out);
  if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    return sizeof *v6;
  }
  return 0;
}

// A listening socket made here rather than by libmicrohttpd, which keeps the reason of a failure
// (port taken, address not of this machine) to itself.
static int listen_on(const chttp_options *options, struct sockaddr_storage *address,
                     const char **step) {
  *step = "read the address";
  errno = EINVAL;
  socklen_t bytes = parse_address(options->address, options->port, address);
  if (bytes == 0) return -1;
  *step = "open a socket";
  int socket_fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_fd < 0) return -1;
  int on = 1;
  // Else a restart would have to wait for the last connections of its predecessor to fade.
  setsockopt(socket_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address->ss_family == AF_INET6)
    setsockopt(socket_fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  *step = "bind";
  if (bind(socket_fd, (struct sockaddr *)address, bytes) == 0) {
    *step = "listen";
    bytes = sizeof *address;
    if (listen(socket_fd, SOMAXCONN) == 0 &&
        getsockname(socket_fd, (struct sockaddr *)address, &bytes) == 0)
      return socket_fd;
  }
  int reason = errno;
  close(socket_fd);
  errno = reason;
  return -1;
}

chttp_server *chttp_server_start(const chttp_options *options, chttp_handler handler,
                                 void *context, char *error, size_t error_bytes) {
  struct sockaddr_storage address;
  const char *step;
  int socket_fd = listen_on(options, &address, &step);
  if (socket_fd < 0) {
    snprintf(error, error_bytes, "cannot %s: %s", step, strerror(errno));
    return NULL;
  }
  chttp_server *server = calloc(1, sizeof *server);
  if (server == NULL) abort();
  server->handler = handler;
  server->context = context;
  server->connections_max = options->connections_max;
  server->port = ntohs(address.ss_family == AF_INET
                           ? ((struct sockaddr_in *)&address)->sin_port
                           : ((struct sockaddr_in6 *)&address)->sin6_port);
  server->daemon = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL, NULL, serve,
      server, MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL, MHD_OPTION_LISTEN_SOCKET, socket_fd,
      MHD_OPTION_NOTIFY_CONNECTION, track, server, MHD_OPTION_CONNECTION_LIMIT,
      options->connections_max, MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds_max,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_bytes_max, MHD_OPTION_END);
  if (server->daemon == NULL) {
    snprintf(error, error_bytes, "libmicrohttpd did not start: %s", strerror(errno));
    // The socket is libmicrohttpd's since the call, which closes it on most of its ways out: closing
    // it again could close another thread's file.
    free(server);
    return NULL;
  }
  return server;
}

uint16_t chttp_server_port(const chttp_server *server) { return server->port; }

void chttp_server_stop(chttp_server *server) {
  MHD_stop_daemon(server->daemon);
  free(server);
}
