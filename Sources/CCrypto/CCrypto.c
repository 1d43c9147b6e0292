// Since OpenSSL 3, SHA256() and HMAC() look their provider up and allocate on every call; the functions
// beneath them, which OpenSSL calls deprecated, work on memory of the caller's.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "CCrypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <string.h>

void cc_sha256(const void *bytes, size_t length, uint8_t *digest) {
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes, length);
  SHA256_Final(digest, &context);
}

// The state after the one block that a pad fills.
static void hash_pad(const uint8_t *block, uint8_t pad, uint32_t *state) {
  uint8_t padded[SHA256_CBLOCK];
  for (size_t i = 0; i < sizeof padded; i++) padded[i] = block[i] ^ pad;
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, padded, sizeof padded);
  for (size_t i = 0; i < 8; i++) state[i] = context.h[i];
  OPENSSL_cleanse(padded, sizeof padded);
}

void cc_hmac_init(cc_hmac_key *key, const void *secret, size_t length) {
  uint8_t block[SHA256_CBLOCK] = {0};
  if (length > sizeof block) {
    cc_sha256(secret, length, block);
  } else if (length > 0) {
    memcpy(block, secret, length);
  }
  hash_pad(block, 0x36, key->inner);
  hash_pad(block, 0x5c, key->outer);
  OPENSSL_cleanse(block, sizeof block);
}

static void continue_from(SHA256_CTX *context, const uint32_t *state) {
  SHA256_Init(context);
  for (size_t i = 0; i < 8; i++) context->h[i] = state[i];
  // Bits so far: the pad's block.
  context->Nl = SHA256_CBLOCK * 8;
}

void cc_hmac(const cc_hmac_key *key, const void *bytes, size_t length, uint8_t *tag) {
  SHA256_CTX context;
  uint8_t inner[SHA256_DIGEST_LENGTH];
  continue_from(&context, key->inner);
  SHA256_Update(&context, bytes, length);
  SHA256_Final(inner, &context);
  continue_from(&context, key->outer);
  SHA256_Update(&context, inner, sizeof inner);
  SHA256_Final(tag, &context);
}

int cc_is_equal(const void *a, const void *b, size_t length) {
  return CRYPTO_memcmp(a, b, length) == 0;
}

size_t cc_base64(const void *bytes, size_t length, uint8_t *out) {
  return (size_t)EVP_EncodeBlock(out, bytes, (int)length);
}

size_t cc_base64url(const void *bytes, size_t length, uint8_t *out) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const uint8_t *in = bytes;
  uint8_t *at = out;
  for (; length >= 3; length -= 3, in += 3) {
    uint32_t three = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
    *at++ = (uint8_t)digits[three >> 18];
    *at++ = (uint8_t)digits[three >> 12 & 63];
    *at++ = (uint8_t)digits[three >> 6 & 63];
    *at++ = (uint8_t)digits[three & 63];
  }
  if (length > 0) {
    uint32_t rest = (uint32_t)in[0] << 16 | (length == 2 ? (uint32_t)in[1] << 8 : 0);
    *at++ = (uint8_t)digits[rest >> 18];
    *at++ = (uint8_t)digits[rest >> 12 & 63];
    if (length == 2) *at++ = (uint8_t)digits[rest >> 6 & 63];
  }
  return (size_t)(at - out);
}

int cc_random(void *bytes, size_t length) { return RAND_bytes(bytes, (int)length) == 1 ? 0 : -1; }
