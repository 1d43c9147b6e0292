#ifndef CAllocations_h
#define CAllocations_h

#include <stdint.h>

// Takes the place of malloc and its kin in the executable that links it, and counts the calls of
// each thread. Everything that allocates in the process goes through it: Swift's runtime, C++, C.

// Allocations of this thread since it began.
uint64_t ca_allocations(void);

// Ends the process with the call stack in a debugger's reach at the next allocation of this thread:
// for finding what allocates. 0 switches it off.
void ca_abort_on_allocation(int on);

#endif
