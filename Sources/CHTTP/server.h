#ifndef CHTTP_SERVER_h
#define CHTTP_SERVER_h

#include <microhttpd.h>
#include <pthread.h>

#include "CHTTP.h"

// A connection in the order of its newest request, so that the one longest without can be found when
// all slots are taken.
struct connection {
  int socket;
  struct connection *older, *newer;
};

struct chttp_server {
  struct MHD_Daemon *daemon;
  chttp_handler handler;
  void *context;
  uint16_t port;
  int listen_socket;
  size_t body_bytes_max, body_discard_bytes_max;
  unsigned drain_ms;

  // Guards what follows: connections belong to several threads.
  pthread_mutex_t lock;
  pthread_cond_t idle;
  unsigned requests;  // begun and not over
  unsigned connections, connections_max;
  struct connection *oldest, *newest;

  // What libmicrohttpd says while it starts; later messages are a client's mistakes.
  bool has_started;
  char complaint[160];
};

// connections.c
void chttp_track(void *context, struct MHD_Connection *connection, void **slot,
                 enum MHD_ConnectionNotificationCode code);
/// The connection has sent a request: it is the newest again.
void chttp_touch(chttp_server *server, struct MHD_Connection *connection);

// request.c
enum MHD_Result chttp_serve(void *context, struct MHD_Connection *connection, const char *path,
                            const char *method, const char *version, const char *upload,
                            size_t *upload_bytes, void **request_state);
void chttp_request_over(void *context, struct MHD_Connection *connection, void **request_state,
                        enum MHD_RequestTerminationCode code);

#endif
