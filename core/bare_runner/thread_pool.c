#include "core/bare_runner/thread_pool.h"

#include <stddef.h>

#include "core/bare_runner/system.h"

#define STACK_BYTES ((uint64_t)1 << 20)
/* Some 10 us, about what waking a thread up costs. */
#define LOOKS 500

/* A loop under way; lives on its caller's stack. */
typedef struct bare_loop {
  slipway_context* context;
  slipway_task task;
  uint8_t* closure;
  int64_t end;
  int64_t next;
  int32_t error;
  uint32_t helpers; /* Changed under the lock; leaving is the last a worker does with the loop. */
  struct bare_loop* below;
} bare_loop;

static void work(bare_loop* loop) {
  for (;;) {
    const int64_t index = __atomic_fetch_add(&loop->next, 1, __ATOMIC_RELAXED);
    if (index >= loop->end) return;
    const int32_t result = loop->task(loop->context, (int32_t)index, loop->closure);
    int32_t none = 0;
    if (result != 0) {
      __atomic_compare_exchange_n(&loop->error, &none, result, 0, __ATOMIC_RELAXED,
                                  __ATOMIC_RELAXED);
    }
  }
}

static bare_loop* find_work(bare_pool* pool) {
  for (bare_loop* loop = pool->loops; loop != NULL; loop = loop->below) {
    if (__atomic_load_n(&loop->next, __ATOMIC_RELAXED) < loop->end) return loop;
  }
  return NULL;
}

static void run_worker(void* argument) {
  bare_pool* pool = ((bare_worker*)argument)->pool;
  uint32_t seen = 0;
  for (;;) {
    for (int i = 0; i < LOOKS; ++i) {
      if (__atomic_load_n(&pool->begun, __ATOMIC_ACQUIRE) != seen) break;
      bare_pause();
    }
    bare_lock(&pool->lock);
    bare_loop* loop = find_work(pool);
    seen = pool->begun;
    if (pool->is_ending) {
      bare_unlock(&pool->lock);
      return;
    }
    if (loop == NULL) {
      bare_unlock(&pool->lock);
      bare_wait(&pool->begun, seen);
      continue;
    }
    __atomic_fetch_add(&loop->helpers, 1, __ATOMIC_RELAXED);
    bare_unlock(&pool->lock);
    work(loop);
    bare_lock(&pool->lock);
    const int is_last = __atomic_fetch_sub(&loop->helpers, 1, __ATOMIC_RELEASE) == 1;
    if (is_last) __atomic_fetch_add(&pool->ended, 1, __ATOMIC_RELEASE);
    bare_unlock(&pool->lock);
    if (is_last) bare_wake_all(&pool->ended);
  }
}

int bare_open_pool(bare_pool* pool, uint32_t threads) {
  memset(pool, 0, sizeof(*pool));
  if (threads <= 1) return 1;
  const uint64_t guard = bare_page_bytes();
  pool->workers = bare_map((threads - 1) * sizeof(bare_worker));
  if (pool->workers == NULL) return 0;
  pool->worker_room = threads - 1;
  for (uint32_t i = 0; i < pool->worker_room; ++i) {
    bare_worker* worker = &pool->workers[i];
    worker->pool = pool;
    worker->stack = bare_map(STACK_BYTES + guard);
    long started = -1;
    if (worker->stack != NULL) {
      /* Who writes below the stack writes to nobody else's memory. */
      BARE_CALL3(__NR_mprotect, worker->stack, guard, 0);
      started = bare_start_thread((uint8_t*)worker->stack + guard + STACK_BYTES, run_worker, worker,
                                  &worker->id);
    }
    if (started < 0) {
      if (worker->stack != NULL) bare_unmap(worker->stack, STACK_BYTES + guard);
      bare_close_pool(pool);
      return 0;
    }
    ++pool->worker_count;
  }
  return 1;
}

void bare_close_pool(bare_pool* pool) {
  if (pool->workers == NULL) return;
  bare_lock(&pool->lock);
  pool->is_ending = 1;
  __atomic_fetch_add(&pool->begun, 1, __ATOMIC_RELEASE);
  bare_unlock(&pool->lock);
  bare_wake_all(&pool->begun);
  for (uint32_t i = 0; i < pool->worker_count; ++i) {
    bare_worker* worker = &pool->workers[i];
    bare_await_thread(&worker->id);
    bare_unmap(worker->stack, STACK_BYTES + bare_page_bytes());
  }
  bare_unmap(pool->workers, pool->worker_room * sizeof(bare_worker));
  memset(pool, 0, sizeof(*pool));
}

int32_t bare_parallel_for(bare_pool* pool, slipway_context* context, slipway_task task, int32_t min,
                          int32_t extent, uint8_t* closure) {
  if (extent <= 0) return 0;
  bare_loop loop = {context, task, closure, (int64_t)min + extent, min, 0, 0, NULL};
  if (pool->worker_count == 0 || extent == 1) {
    work(&loop);
    return loop.error;
  }
  bare_lock(&pool->lock);
  loop.below = pool->loops;
  pool->loops = &loop;
  __atomic_fetch_add(&pool->begun, 1, __ATOMIC_RELEASE);
  bare_unlock(&pool->lock);
  bare_wake_all(&pool->begun);
  work(&loop);
  bare_lock(&pool->lock);
  for (bare_loop** link = &pool->loops; *link != NULL; link = &(*link)->below) {
    if (*link == &loop) {
      *link = loop.below;
      break;
    }
  }
  bare_unlock(&pool->lock);
  /* Nobody comes any more, and who is inside leaves soon. */
  for (int i = 0; i < LOOKS && __atomic_load_n(&loop.helpers, __ATOMIC_ACQUIRE) != 0; ++i) {
    bare_pause();
  }
  for (;;) {
    const uint32_t ended = __atomic_load_n(&pool->ended, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&loop.helpers, __ATOMIC_ACQUIRE) == 0) break;
    bare_wait(&pool->ended, ended);
  }
  return __atomic_load_n(&loop.error, __ATOMIC_RELAXED);
}
