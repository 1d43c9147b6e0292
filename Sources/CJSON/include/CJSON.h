#ifndef CJSON_h
#define CJSON_h

#include <stddef.h>
#include <stdint.h>

// A C face on simdjson's first stage: one vectorised pass that checks UTF-8, finds where every token
// starts, and picks the kernel for the processor at run time (the header-only part of simdjson picks
// it at compile time, which would need -march). What a token may be is the reader's business, so
// that numbers of any length are carried as they are and repeated members are seen.

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cj_indexer cj_indexer;

typedef enum {
  CJ_OK = 0,
  CJ_EMPTY = 1,          // nothing but white space
  CJ_INVALID_UTF8 = 2,
  CJ_UNCLOSED_STRING = 3,
  CJ_CONTROL_IN_STRING = 4,  // a raw byte below 0x20 inside a string
  CJ_NO_MEMORY = 5
} cj_status;

// NULL where there is no memory.
cj_indexer *cj_create(size_t capacity);
void cj_destroy(cj_indexer *indexer);

// Positions of `{ } [ ] : ,`, of each string's opening quote and of each other scalar's first byte,
// in order. They live until the next call. Allocates only where `length` exceeds what came before.
cj_status cj_index(cj_indexer *indexer, const uint8_t *bytes, size_t length,
                   const uint32_t **positions, uint32_t *count);

#ifdef __cplusplus
}
#endif
#endif
