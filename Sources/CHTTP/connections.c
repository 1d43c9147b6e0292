#include <stdlib.h>
#include <sys/socket.h>

#include "server.h"

static void unlink_entry(chttp_server *server, struct connection *entry) {
  if (entry->older != NULL) entry->older->newer = entry->newer;
  else server->oldest = entry->newer;
  if (entry->newer != NULL) entry->newer->older = entry->older;
  else server->newest = entry->older;
}

static void link_newest(chttp_server *server, struct connection *entry) {
  entry->older = server->newest;
  entry->newer = NULL;
  if (server->newest != NULL) server->newest->newer = entry;
  server->newest = entry;
  if (server->oldest == NULL) server->oldest = entry;
}

// libmicrohttpd stops accepting when all slots are taken, and its time-out counts from the last byte,
// so a client that sends a byte now and then holds a slot for ever. Whoever takes the last slot
// therefore pushes out the connection that has been without a request for longest: its socket is shut
// down here and closed by its own thread when that next looks. Under the lock, since libmicrohttpd
// reports a connection as closed before it closes the socket: what is still in the list is still that
// connection's, and not a number given out again.
static void make_room(chttp_server *server) {
  if (server->connections >= server->connections_max) shutdown(server->oldest->socket, SHUT_RDWR);
}

void chttp_track(void *context, struct MHD_Connection *connection, void **slot,
                 enum MHD_ConnectionNotificationCode code) {
  chttp_server *server = context;
  pthread_mutex_lock(&server->lock);
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    struct connection *entry = calloc(1, sizeof *entry);
    if (entry == NULL) abort();
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    entry->socket = info->connect_fd;
    link_newest(server, entry);
    server->connections++;
    *slot = entry;
    make_room(server);
  } else {
    struct connection *entry = *slot;
    unlink_entry(server, entry);
    server->connections--;
    free(entry);
  }
  pthread_mutex_unlock(&server->lock);
}

void chttp_touch(chttp_server *server, struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  struct connection *entry = info->socket_context;
  pthread_mutex_lock(&server->lock);
  unlink_entry(server, entry);
  link_newest(server, entry);
  pthread_mutex_unlock(&server->lock);
}
