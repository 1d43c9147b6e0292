#ifndef CCrypto_h
#define CCrypto_h

#include <stddef.h>
#include <stdint.h>

// SHA-256 of `bytes` into 32 bytes (OpenSSL).
void cc_sha256(const void *bytes, size_t length, uint8_t *digest);

// Base64 with padding (RFC 4648 section 4) of `length` bytes; writes 4 * ceil(length / 3) bytes and
// a NUL after them. Returns the length without the NUL.
size_t cc_base64(const void *bytes, size_t length, uint8_t *out);

// Bytes from the operating system's generator. 0 on success.
int cc_random(void *bytes, size_t length);

#endif
