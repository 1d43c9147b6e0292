#include "CTLS.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ct_connection {
  SSL_CTX *context;
  SSL *ssl;
};

// What OpenSSL has to say of the last call, or the system where it has nothing.
static void tell(SSL *ssl, int result, int system_error, char *reason, size_t size) {
  long verified = ssl == NULL ? X509_V_OK : SSL_get_verify_result(ssl);
  unsigned long code = ERR_peek_last_error();
  int kind = ssl == NULL ? SSL_ERROR_SSL : SSL_get_error(ssl, result);
  if (verified != X509_V_OK) {
    snprintf(reason, size, "the certificate is refused: %s", X509_verify_cert_error_string(verified));
  } else if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE || system_error == EAGAIN) {
    // A socket that blocks says so only when its time is up.
    snprintf(reason, size, "no answer in time");
  } else if (code != 0) {
    char text[160];
    ERR_error_string_n(code, text, sizeof text);
    snprintf(reason, size, "%s", text);
  } else if (system_error != 0) {
    snprintf(reason, size, "%s", strerror(system_error));
  } else {
    snprintf(reason, size, "the connection was closed");
  }
  ERR_clear_error();
}

static int is_address(const char *host) {
  ASN1_OCTET_STRING *address = a2i_IPADDRESS(host);
  ASN1_OCTET_STRING_free(address);
  ERR_clear_error();
  return address != NULL;
}

static int set_host(SSL *ssl, const char *host) {
  if (is_address(host)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host);
  return SSL_set1_host(ssl, host) && SSL_set_tlsext_host_name(ssl, host);
}

ct_connection *ct_connect(int descriptor, const char *host, const char *ca_file, char *reason,
                          size_t reason_size) {
  // OpenSSL writes with write(2): a server that has gone would end the process.
  signal(SIGPIPE, SIG_IGN);
  ERR_clear_error();
  ct_connection *made = calloc(1, sizeof *made);
  if (made == NULL) abort();
  made->context = SSL_CTX_new(TLS_client_method());
  int is_ready = made->context != NULL &&
                 SSL_CTX_set_min_proto_version(made->context, TLS1_2_VERSION) &&
                 (ca_file != NULL ? SSL_CTX_load_verify_file(made->context, ca_file)
                                  : SSL_CTX_set_default_verify_paths(made->context));
  if (is_ready) {
    SSL_CTX_set_verify(made->context, SSL_VERIFY_PEER, NULL);
    made->ssl = SSL_new(made->context);
    is_ready = made->ssl != NULL && set_host(made->ssl, host) && SSL_set_fd(made->ssl, descriptor);
  }
  if (!is_ready) {
    tell(NULL, 0, 0, reason, reason_size);
    ct_free(made);
    return NULL;
  }
  errno = 0;
  int result = SSL_connect(made->ssl);
  if (result != 1) {
    tell(made->ssl, result, errno, reason, reason_size);
    ct_free(made);
    return NULL;
  }
  return made;
}

long ct_read(ct_connection *connection, void *bytes, size_t size, char *reason, size_t reason_size) {
  size_t count = 0;
  errno = 0;
  int result = SSL_read_ex(connection->ssl, bytes, size, &count);
  if (result == 1) return (long)count;
  if (SSL_get_error(connection->ssl, result) == SSL_ERROR_ZERO_RETURN) return 0;
  tell(connection->ssl, result, errno, reason, reason_size);
  return -1;
}

int ct_write_all(ct_connection *connection, const void *bytes, size_t size, char *reason,
                 size_t reason_size) {
  size_t count = 0;
  errno = 0;
  // Without partial writes it takes all or fails.
  int result = SSL_write_ex(connection->ssl, bytes, size, &count);
  if (result == 1 && count == size) return 0;
  tell(connection->ssl, result, errno, reason, reason_size);
  return -1;
}

void ct_free(ct_connection *connection) {
  SSL_free(connection->ssl);
  SSL_CTX_free(connection->context);
  free(connection);
}
