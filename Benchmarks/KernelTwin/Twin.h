#pragma once
// The decision once more, in C++: what the gate's kernel is held against. The same records in, the
// same bytes out, by the parts somebody would take who wrote it in C++: simdjson's on-demand reader
// with every value looked at, XXH3, open addressing with prefetches, plain structs.
//
// Only what the ordinary workload has is here; a record that cannot be read ends the program.
#include <cstddef>
#include <cstdint>

extern "C" {
struct twin_record {
  const uint8_t *key;
  size_t key_size;
  const uint8_t *value;  // followed by 64 bytes that may be read
  size_t value_size;
  int64_t partition;
};

struct twin_output {
  const uint8_t *key, *value;
  size_t key_size, value_size;
  const uint8_t *notification_id;
  size_t notification_id_size;
  uint32_t outcome, reason;
};

struct twin;

// The texts are written into every record; `partitions` is what keys are held against.
twin *twin_new(int64_t now_ms, int64_t partitions, const char *policy_version,
               const char *tzdb_version, const char *gate_version);
// Offsets of a zone from now on, each until its instant in seconds.
void twin_zone(twin *, const char *name, const int64_t *until, const int64_t *offsets,
               int64_t count);
// A preference document; room for `users` of them was asked for before.
void twin_reserve(twin *, int64_t users);
void twin_apply(twin *, const uint8_t *document, int64_t size);
// At most 64 records. The outputs live until the next call.
const twin_output *twin_decide(twin *, const twin_record *records, int64_t count,
                               int64_t *output_count);
}
