#include "CAllocations.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

// The C library's own, under the names it exports for exactly this.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static _Thread_local uint64_t allocations;
static _Thread_local int abortsOnAllocation;

uint64_t ca_allocations(void) { return allocations; }
void ca_abort_on_allocation(int on) { abortsOnAllocation = on; }

static void count(void) {
  allocations++;
  if (abortsOnAllocation) {
    abortsOnAllocation = 0;
    abort();
  }
}

void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}

void *calloc(size_t members, size_t size) {
  count();
  return __libc_calloc(members, size);
}

void *realloc(void *old, size_t size) {
  count();
  return __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  count();
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : ENOMEM;
}
