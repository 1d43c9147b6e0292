// Since OpenSSL 3, SHA256() looks its provider up and allocates on every call; the functions beneath it,
// which OpenSSL calls deprecated, work on memory of the caller's.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "CCrypto.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

void cc_sha256(const void *bytes, size_t length, uint8_t *digest) {
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes, length);
  SHA256_Final(digest, &context);
}

size_t cc_base64(const void *bytes, size_t length, uint8_t *out) {
  return (size_t)EVP_EncodeBlock(out, bytes, (int)length);
}

int cc_random(void *bytes, size_t length) { return RAND_bytes(bytes, (int)length) == 1 ? 0 : -1; }
