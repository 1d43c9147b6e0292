#include "CSimulation.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

// Debug builds need several times what release builds do; pages that are not touched cost nothing.
#define STACK_BYTES (1024 * 1024)
#define GUARD_BYTES 4096

struct csim_fiber {
  ucontext_t context;
  void (*body)(void *);
  void *argument;
  char *stack;
  struct csim_fiber *next_free;
};

// A world lives on one thread; several may live beside each other, as in tests.
static _Thread_local ucontext_t main_context;
static _Thread_local csim_fiber *current;
// Stacks that were used: a world makes and ends many fibers, and a fresh mapping costs page faults.
static _Thread_local csim_fiber *free_fibers;

static void start(void) {
  csim_fiber *self = current;
  self->body(self->argument);
  for (;;) csim_fiber_yield();
}

csim_fiber *csim_fiber_make(void (*body)(void *), void *argument) {
  csim_fiber *fiber = free_fibers;
  if (fiber) {
    free_fibers = fiber->next_free;
  } else {
    fiber = calloc(1, sizeof *fiber);
    if (!fiber) abort();
    fiber->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    // The lowest page is out of bounds: an overflow faults instead of spoiling a neighbour.
    if (fiber->stack == MAP_FAILED || mprotect(fiber->stack, GUARD_BYTES, PROT_NONE)) abort();
  }
  fiber->body = body;
  fiber->argument = argument;
  if (getcontext(&fiber->context)) abort();
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = STACK_BYTES;
  fiber->context.uc_link = NULL;
  makecontext(&fiber->context, start, 0);
  return fiber;
}

void csim_fiber_resume(csim_fiber *fiber) {
  current = fiber;
  swapcontext(&main_context, &fiber->context);
  current = NULL;
}

void csim_fiber_yield(void) { swapcontext(&current->context, &main_context); }

void csim_fiber_free(csim_fiber *fiber) {
  fiber->next_free = free_fibers;
  free_fibers = fiber;
}

static char last_words[512];

static void say(int signal_number) {
  ssize_t written = write(STDERR_FILENO, last_words, strlen(last_words));
  (void)written;
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void csim_say_on_trap(const char *text) {
  strncpy(last_words, text, sizeof last_words - 1);
  const int signals[] = {SIGILL, SIGTRAP, SIGSEGV, SIGABRT, SIGBUS};
  for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], say);
}
