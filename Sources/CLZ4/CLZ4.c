#include "CLZ4.h"

#include <lz4.h>

int clz4_bound(int length) { return LZ4_compressBound(length); }

int clz4_compress(const void *in, int length, void *out, int capacity) {
  return LZ4_compress_default(in, out, length, capacity);
}

int clz4_decompress(const void *in, int length, void *out, int wanted, int capacity) {
  return LZ4_decompress_safe_partial(in, out, length, wanted, capacity);
}
