// LZ4 blocks, for payloads that wait in memory and records that are kept: lengths are kept by the caller.
#ifndef CLZ4_H
#define CLZ4_H

#include <stdint.h>

/// The room that compressing `length` bytes may need.
int clz4_bound(int length);

/// Returns the bytes written to `out`; 0 where they do not fit.
int clz4_compress(const void *in, int length, void *out, int capacity);

/// Decompresses from the start until `wanted` bytes are there, of the `capacity` that the block has in
/// all. Returns how many there are, below zero where the block is broken.
int clz4_decompress(const void *in, int length, void *out, int wanted, int capacity);

/// A text that what is compressed looks like, made ready once. For one thread at a time.
typedef struct clz4_dictionary clz4_dictionary;

/// The text must live as long; null where there is no memory.
clz4_dictionary *clz4_dictionary_new(const void *text, int length);
void clz4_dictionary_free(clz4_dictionary *dictionary);

/// As `clz4_compress`; what stands in the dictionary too is referred to.
int clz4_compress_with(clz4_dictionary *dictionary, const void *in, int length, void *out,
                       int capacity);

/// Decompresses a whole block that was made with a dictionary of this text. Returns how many bytes
/// there are, below zero where the block is broken.
int clz4_decompress_with(const void *text, int text_length, const void *in, int length, void *out,
                         int capacity);

#endif
