// LZ4 blocks, for payloads that wait in memory: the lengths are kept by the caller.
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

#endif
