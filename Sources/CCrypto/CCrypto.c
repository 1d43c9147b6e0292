#include "CCrypto.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

void cc_sha256(const void *bytes, size_t length, uint8_t *digest) { SHA256(bytes, length, digest); }

size_t cc_base64(const void *bytes, size_t length, uint8_t *out) {
  return (size_t)EVP_EncodeBlock(out, bytes, (int)length);
}

int cc_random(void *bytes, size_t length) { return RAND_bytes(bytes, (int)length) == 1 ? 0 : -1; }
