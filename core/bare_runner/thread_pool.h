/* Parallel loops over a fixed number of threads: core/runtime/thread_pool.h without its C++. */
#ifndef SLIPWAY_CORE_BARE_RUNNER_THREAD_POOL_H_
#define SLIPWAY_CORE_BARE_RUNNER_THREAD_POOL_H_

#include <stdint.h>

#include "core/kernel_abi/kernel_abi.h"

struct bare_loop;

typedef struct bare_worker {
  struct bare_pool* pool;
  void* stack;
  uint32_t id; /* 0 once it has ended. */
} bare_worker;

typedef struct bare_pool {
  bare_worker* workers;
  uint32_t worker_count;
  uint32_t worker_room;
  uint32_t lock;
  struct bare_loop* loops; /* That may have indices left, the newest first. */
  uint32_t begun;          /* Raised with every loop; waited for. */
  uint32_t ended;          /* Raised whenever the last worker leaves a loop; waited for. */
  uint32_t is_ending;
} bare_pool;

/* `threads` with the caller's. 0 where there is no memory or thread left for all, and then the pool has none. */
int bare_open_pool(bare_pool* pool, uint32_t threads);
void bare_close_pool(bare_pool* pool);

/* slipway_imports.parallel_for. */
int32_t bare_parallel_for(bare_pool* pool, slipway_context* context, slipway_task task, int32_t min,
                          int32_t extent, uint8_t* closure);

#endif /* SLIPWAY_CORE_BARE_RUNNER_THREAD_POOL_H_ */
