// What the test broker needs from C: a hardware checksum, LZ4 frames, and the kernel calls that
// Swift's Glibc module does not show.
#ifndef CBROKER_H
#define CBROKER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

/// CRC-32C (Castagnoli) of `length` bytes, as record batches of format 2 carry it.
uint32_t cbroker_crc32c(const void *bytes, size_t length);

/// Decompresses one LZ4 frame. Returns the number of bytes written to `out`, -1 when the frame is
/// broken, -2 when it does not fit in `capacity`.
int64_t cbroker_lz4_decompress(const void *in, size_t length, void *out, size_t capacity);

/// Compresses into one LZ4 frame. Returns the number of bytes written, -1 on failure.
int64_t cbroker_lz4_compress(const void *in, size_t length, void *out, size_t capacity);

/// The room that `cbroker_lz4_compress` may need for `length` bytes.
size_t cbroker_lz4_bound(size_t length);

/// Accepts a connection, non-blocking and without delay, and gives its descriptor and the port it
/// comes from. Returns -1 with errno set when there is none.
int cbroker_accept(int listener, uint16_t *port);

/// A descriptor that becomes readable at SIGTERM, SIGINT and SIGHUP, which are blocked otherwise.
/// Returns -1 with errno set on failure.
int cbroker_signals(void);

/// Keeps freed memory in the process instead of giving it back to the kernel: a broker of tests drops
/// and fills whole topics, and a page that comes back has to be cleared again.
void cbroker_keep_memory(void);

#endif
