#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// What libmicrohttpd would print: while it starts, the only reason it gives for a failure; later a
// client's mistakes, which are not this process's news.
static void hear(void *context, const char *format, va_list arguments) {
  chttp_server *server = context;
  if (server->has_started) return;
  vsnprintf(server->complaint, sizeof server->complaint, format, arguments);
  server->complaint[strcspn(server->complaint, "\n")] = 0;
}

// Paths and arguments stay as they were sent: decoded before it is split, `a%2Fb` is two segments.
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
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

static struct MHD_Daemon *start_daemon(chttp_server *server, const chttp_options *options) {
  unsigned flags = MHD_USE_ITC | MHD_USE_ERROR_LOG;
  flags |= options->threads == 0 ? MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_THREAD_PER_CONNECTION
                                 : MHD_USE_EPOLL_INTERNAL_THREAD;
  struct MHD_OptionItem extra[5];
  unsigned count = 0;
  if (options->threads > 1)
    extra[count++] =
        (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)options->threads, NULL};
  if (options->tls_certificate != NULL) {
    flags |= MHD_USE_TLS;
    extra[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0,
                                             (void *)options->tls_certificate};
    extra[count++] =
        (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)options->tls_key};
    // What browsers and libraries of the last ten years speak, and nothing older.
    extra[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
                                             "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"};
  }
  extra[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
  return MHD_start_daemon(
      flags, 0, NULL, NULL, chttp_serve, server,
      MHD_OPTION_EXTERNAL_LOGGER, hear, server,  // first: it hears of the options that follow
      MHD_OPTION_LISTEN_SOCKET, server->listen_socket,
      MHD_OPTION_NOTIFY_CONNECTION, chttp_track, server,
      MHD_OPTION_NOTIFY_COMPLETED, chttp_request_over, server,
      MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
      // A Host header is asked for, as RFC 9112 does, and no blank within a path.
      MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_CONNECTION_LIMIT, options->connections_max,
      MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds_max,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_bytes_max,
      MHD_OPTION_ARRAY, extra, MHD_OPTION_END);
}

static void release(chttp_server *server) {
  pthread_cond_destroy(&server->idle);
  pthread_mutex_destroy(&server->lock);
  free(server);
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
  pthread_mutex_init(&server->lock, NULL);
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&server->idle, &monotonic);
  pthread_condattr_destroy(&monotonic);
  server->handler = handler;
  server->context = context;
  server->listen_socket = socket_fd;
  server->connections_max = options->connections_max;
  server->body_bytes_max = options->body_bytes_max;
  server->body_discard_bytes_max = options->body_discard_bytes_max;
  server->drain_ms = options->drain_ms;
  server->port = ntohs(address.ss_family == AF_INET
                           ? ((struct sockaddr_in *)&address)->sin_port
                           : ((struct sockaddr_in6 *)&address)->sin6_port);
  server->daemon = start_daemon(server, options);
  if (server->daemon == NULL) {
    snprintf(error, error_bytes, "libmicrohttpd did not start: %s",
             server->complaint[0] != 0 ? server->complaint : strerror(errno));
    // The socket is libmicrohttpd's since the call, which closes it on most of its ways out: closing
    // it again could close another thread's file.
    release(server);
    return NULL;
  }
  server->has_started = true;
  return server;
}

uint16_t chttp_server_port(const chttp_server *server) { return server->port; }

static void wait_for_requests(chttp_server *server) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += server->drain_ms / 1000;
  until.tv_nsec += (long)(server->drain_ms % 1000) * 1000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_sec++;
    until.tv_nsec -= 1000000000;
  }
  pthread_mutex_lock(&server->lock);
  while (server->requests > 0 &&
         pthread_cond_timedwait(&server->idle, &server->lock, &until) == 0) {
  }
  pthread_mutex_unlock(&server->lock);
}

void chttp_server_stop(chttp_server *server) {
  // Nobody new is let in, so that waiting for those inside has an end.
  MHD_socket taken_back = MHD_quiesce_daemon(server->daemon);
  wait_for_requests(server);
  MHD_stop_daemon(server->daemon);
  if (taken_back != MHD_INVALID_SOCKET) close(taken_back);
  release(server);
}
