#ifndef CTLS_h
#define CTLS_h

#include <stddef.h>

// One side of TLS 1.2 or 1.3 over a connected socket: a client that checks the server's certificate
// (OpenSSL). Waits as long as the socket's own SO_RCVTIMEO and SO_SNDTIMEO allow.
typedef struct ct_connection ct_connection;

// Shakes hands with `host`, a name or a numeric address that the certificate must be for. `ca_file`: the
// authorities to trust, in PEM; NULL: the system's. NULL where it fails; `reason` then says why.
ct_connection *ct_connect(int descriptor, const char *host, const char *ca_file, char *reason,
                          size_t reason_size);

// As read(2): 0 at the orderly end, -1 on failure; `reason` then says why.
long ct_read(ct_connection *connection, void *bytes, size_t size, char *reason, size_t reason_size);

// Writes all of it. 0, or -1; `reason` then says why.
int ct_write_all(ct_connection *connection, const void *bytes, size_t size, char *reason,
                 size_t reason_size);

// Frees it; the socket stays open.
void ct_free(ct_connection *connection);

#endif
