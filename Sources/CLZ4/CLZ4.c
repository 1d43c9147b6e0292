#include "CLZ4.h"

#include <lz4.h>
#include <stdlib.h>

int clz4_bound(int length) { return LZ4_compressBound(length); }

int clz4_compress(const void *in, int length, void *out, int capacity) {
  return LZ4_compress_default(in, out, length, capacity);
}

int clz4_decompress(const void *in, int length, void *out, int wanted, int capacity) {
  return LZ4_decompress_safe_partial(in, out, length, wanted, capacity);
}

struct clz4_dictionary {
  LZ4_stream_t loaded;
  // Compressing changes the table, so that each block begins with a copy of the loaded one.
  LZ4_stream_t used;
};

clz4_dictionary *clz4_dictionary_new(const void *text, int length) {
  clz4_dictionary *dictionary = malloc(sizeof(*dictionary));
  if (!dictionary) return NULL;
  LZ4_initStream(&dictionary->loaded, sizeof(dictionary->loaded));
  LZ4_loadDict(&dictionary->loaded, text, length);
  return dictionary;
}

void clz4_dictionary_free(clz4_dictionary *dictionary) { free(dictionary); }

int clz4_compress_with(clz4_dictionary *dictionary, const void *in, int length, void *out,
                       int capacity) {
  dictionary->used = dictionary->loaded;
  return LZ4_compress_fast_continue(&dictionary->used, in, out, length, capacity, 1);
}

int clz4_decompress_with(const void *text, int text_length, const void *in, int length, void *out,
                         int capacity) {
  return LZ4_decompress_safe_usingDict(in, out, length, capacity, text, text_length);
}
