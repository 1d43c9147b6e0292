#ifndef CCrypto_h
#define CCrypto_h

#include <stddef.h>
#include <stdint.h>

// SHA-256 of `bytes` into 32 bytes (OpenSSL).
void cc_sha256(const void *bytes, size_t length, uint8_t *digest);

// A key of HMAC-SHA-256 (RFC 2104), its two pads hashed already: a message then costs its own blocks
// and one more. As secret as the key itself.
typedef struct {
  uint32_t inner[8];
  uint32_t outer[8];
} cc_hmac_key;

void cc_hmac_init(cc_hmac_key *key, const void *secret, size_t length);

// The tag of `bytes`, 32 bytes. Allocates nothing.
void cc_hmac(const cc_hmac_key *key, const void *bytes, size_t length, uint8_t *tag);

// 1 where the two are equal, 0 where not, in a time that does not tell where they differ.
int cc_is_equal(const void *a, const void *b, size_t length);

// Base64 with padding (RFC 4648 section 4) of `length` bytes; writes 4 * ceil(length / 3) bytes and
// a NUL after them. Returns the length without the NUL.
size_t cc_base64(const void *bytes, size_t length, uint8_t *out);

// Base64 for URLs, without padding (RFC 4648 section 5); writes ceil(4 * length / 3) bytes, and nothing
// after them. Returns how many.
size_t cc_base64url(const void *bytes, size_t length, uint8_t *out);

// Bytes from the operating system's generator. 0 on success.
int cc_random(void *bytes, size_t length);

#endif
