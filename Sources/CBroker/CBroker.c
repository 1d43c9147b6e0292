#define _GNU_SOURCE
#include "CBroker.h"

#include <arpa/inet.h>
#include <limits.h>
#include <lz4frame.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>

// Reflected Castagnoli polynomial; the table serves machines without the instruction.
static uint32_t table[256];

__attribute__((constructor)) static void fill_table(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) ? 0x82F63B78u : 0);
    table[i] = crc;
  }
}

static uint32_t crc_by_table(uint32_t crc, const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++) crc = (crc >> 8) ^ table[(crc ^ p[i]) & 0xFF];
  return crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(uint32_t crc,
                                                                      const uint8_t *p, size_t n) {
  uint64_t wide = crc;
  while (n >= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    wide = _mm_crc32_u64(wide, word);
    p += 8;
    n -= 8;
  }
  uint32_t narrow = (uint32_t)wide;
  while (n-- > 0) narrow = _mm_crc32_u8(narrow, *p++);
  return narrow;
}
#endif

uint32_t cbroker_crc32c(const void *bytes, size_t length) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~crc_by_instruction(~0u, bytes, length);
#endif
  return ~crc_by_table(~0u, bytes, length);
}

int64_t cbroker_lz4_decompress(const void *in, size_t length, void *out, size_t capacity) {
  LZ4F_dctx *context = NULL;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) return -1;
  size_t read = 0, written = 0, hint = 1;
  int64_t result = -1;
  while (hint != 0) {
    size_t out_size = capacity - written, in_size = length - read;
    hint = LZ4F_decompress(context, (char *)out + written, &out_size, (const char *)in + read,
                           &in_size, NULL);
    if (LZ4F_isError(hint)) break;
    written += out_size;
    read += in_size;
    if (hint == 0) {
      result = (int64_t)written;
    } else if (written == capacity) {
      result = -2;
      break;
    } else if (out_size == 0 && in_size == 0) {
      break;
    }
  }
  LZ4F_freeDecompressionContext(context);
  return result;
}

int64_t cbroker_lz4_compress(const void *in, size_t length, void *out, size_t capacity) {
  size_t n = LZ4F_compressFrame(out, capacity, in, length, NULL);
  return LZ4F_isError(n) ? -1 : (int64_t)n;
}

size_t cbroker_lz4_bound(size_t length) { return LZ4F_compressFrameBound(length, NULL); }

int cbroker_accept(int listener, uint16_t *port) {
  struct sockaddr_in address;
  socklen_t size = sizeof address;
  int descriptor =
      accept4(listener, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor < 0) return -1;
  *port = ntohs(address.sin_port);
  int yes = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return descriptor;
}

int cbroker_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  if (sigprocmask(SIG_BLOCK, &set, NULL) != 0) return -1;
  signal(SIGPIPE, SIG_IGN);
  return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

void cbroker_keep_memory(void) {
  // The largest that glibc takes of each.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_ARENA_MAX, 1);
}
