#ifndef CSimulation_h
#define CSimulation_h

#include <stdint.h>

// Threads of a simulated world that share one real thread: each has a stack of its own and runs until
// it gives the turn away. The loop under test blocks in its ports, as it does in production; so it
// needs a stack to block on.
typedef struct csim_fiber csim_fiber;

// A fiber that will call body(context) when it is first resumed.
csim_fiber *csim_fiber_make(void (*body)(void *context), void *context);

// Runs the fiber until it gives the turn away, or ends. Never from within a fiber.
void csim_fiber_resume(csim_fiber *fiber);

// Gives the turn back to whoever resumed the fiber that calls this.
void csim_fiber_yield(void);

// Gives the stack back. Only of one that has ended or was never resumed.
void csim_fiber_free(csim_fiber *fiber);

// What a process that traps writes to standard error last.
void csim_say_on_trap(const char *text);

#endif
