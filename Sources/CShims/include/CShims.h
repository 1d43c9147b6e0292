#ifndef CShims_h
#define CShims_h

#include <stdint.h>

// Swift has no prefetch: a look-up's cache miss costs more than all other work of a decision unless
// a batch of them is asked for together.
static inline void cs_prefetch(const void *address) { __builtin_prefetch(address, 0, 3); }

#endif
