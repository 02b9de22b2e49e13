/* What kernels get from the runner during a call: core/runtime/context.h and scratch.h without their C++. */
#ifndef SLIPWAY_CORE_BARE_RUNNER_KERNEL_CONTEXT_H_
#define SLIPWAY_CORE_BARE_RUNNER_KERNEL_CONTEXT_H_

#include <stdint.h>

#include "core/bare_runner/protocol.h"
#include "core/bare_runner/thread_pool.h"
#include "core/kernel_abi/kernel_abi.h"

/* Sizes of scratch memory, each twice as large. */
#define BARE_SCRATCH_SIZES 48

/* The type that kernel_abi.h leaves open; one for each queues. Begins as zeros, with an open pool and its limit. */
struct slipway_context {
  bare_pool pool;
  uint64_t scratch_limit;
  uint64_t scratch_bytes; /* Taken from the system. */
  uint32_t scratch_lock;
  uint32_t has_refused; /* There was no scratch memory left. */
  struct bare_scratch* free[BARE_SCRATCH_SIZES];
  uint32_t has_error;
  char error[SLIPWAY_BARE_MAX_TEXT]; /* The first that a kernel said; ends with a zero. */
};

/* The imports of all code. */
extern const slipway_imports bare_imports;

/* Before a call. */
void bare_clear_context(slipway_context* context);
/* Gives back all scratch memory that no kernel holds. */
void bare_free_scratch(slipway_context* context);

#endif /* SLIPWAY_CORE_BARE_RUNNER_KERNEL_CONTEXT_H_ */
