#pragma once
#include <sys/mman.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <vector>

#include "Candidate.h"

enum Kind : uint8_t { absent, null, set, invalid };

struct Place {
  uint16_t start = 0, end = 0, zone = 0;
  uint8_t kind = absent, days = 0x7F;
};

struct Device {
  Place place;
  uint16_t region = 0;
  uint8_t permission = 0, token = 0, platform = 0, choices = 0, suppressions = 0, idBytes = 0;
  uint32_t id = 0;  // from the block's start
};

struct Side {
  enum : uint8_t { consent, mute } kind;
  uint8_t scope, category, nameBytes;
  uint32_t name;
  int64_t atMs;
};

constexpr uint8_t accountScope = 64;

// A user: this, the devices, the side entries, ids and names.
struct Block {
  uint64_t hashRest;
  int64_t version, offset;
  Place place;
  uint8_t choices, suppressions, devices, sides;
  uint32_t unused;

  const Device *device(size_t i) const { return reinterpret_cast<const Device *>(this + 1) + i; }
  const Side *side(size_t i) const {
    return reinterpret_cast<const Side *>(device(devices)) + i;
  }
  Text text(uint32_t at, size_t size) const {
    return {reinterpret_cast<const char *>(this) + at, size};
  }
};

struct Hash {
  uint64_t low, high;
};

inline Hash hashOf(Text user) {
  XXH128_hash_t hash = XXH3_128bits_withSeed(user.data(), user.size(), 0x9E3779B97F4A7C15);
  return {hash.low64, hash.high64};
}

template <class T>
T *hugeMemory(size_t bytes) {
  bytes = (bytes + (2 << 20) - 1) & ~size_t((2 << 20) - 1);
  void *memory = aligned_alloc(2 << 20, bytes);
  if (!memory) stop("no memory");
  madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<T *>(memory);
}

// Open addressing, at most half to three quarters full.
class Table {
 public:
  void reserve(size_t users) {
    size_t capacity = 1024;
    while (capacity * 3 < users * 4) capacity *= 2;
    mask = capacity - 1;
    entries = hugeMemory<Entry>(capacity * sizeof(Entry));
    memset(entries, 0, capacity * sizeof(Entry));
    words = hugeMemory<uint64_t>(users * 256 + (1 << 20));
  }

  void put(Text user, const std::vector<uint64_t> &block) {
    Hash hash = hashOf(user);
    size_t at = hash.low & mask;
    while (entries[at].block) at = (at + 1) & mask;
    entries[at] = {hash.low, uint32_t(hash.high), uint32_t(used + 1)};
    memcpy(words + used, block.data(), block.size() * 8);
    reinterpret_cast<Block *>(words + used)->hashRest = hash.high;
    used += block.size();
  }

  void prefetch(Hash hash) const { __builtin_prefetch(&entries[hash.low & mask]); }

  const Block *find(Hash hash) const {
    for (size_t at = hash.low & mask;; at = (at + 1) & mask) {
      const Entry &entry = entries[at];
      if (!entry.block) return nullptr;
      if (entry.low == hash.low && entry.tag == uint32_t(hash.high)) {
        const uint64_t *block = words + (entry.block - 1);
        __builtin_prefetch(block);
        __builtin_prefetch(block + 8);
        return reinterpret_cast<const Block *>(block);
      }
    }
  }

 private:
  struct Entry {
    uint64_t low;
    uint32_t tag, block;
  };
  Entry *entries = nullptr;
  size_t mask = 0;
  uint64_t *words = nullptr;
  size_t used = 0;
};
