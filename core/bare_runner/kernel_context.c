#include "core/bare_runner/kernel_context.h"

#include <stddef.h>

#include "core/bare_runner/system.h"

/* In front of every piece of scratch memory. */
typedef struct bare_scratch {
  struct bare_scratch* next;
  uint64_t size; /* Its number among sizes. */
  uint64_t padding[6];
} bare_scratch;

/* Of whole pieces, header included: 4 KiB, 8 KiB, ... */
static uint64_t bytes_of(uint64_t size) { return (uint64_t)4096 << size; }

static void* allocate(slipway_context* context, uint64_t bytes) {
  uint64_t size = 0;
  while (size < BARE_SCRATCH_SIZES - 12 && bytes_of(size) - sizeof(bare_scratch) < bytes) ++size;
  bare_scratch* piece = NULL;
  bare_lock(&context->scratch_lock);
  const uint64_t total = bytes_of(size);
  if (context->free[size] != NULL) {
    piece = context->free[size];
    context->free[size] = piece->next;
  } else if (total - sizeof(bare_scratch) >= bytes &&
             total <= context->scratch_limit - context->scratch_bytes) {
    piece = bare_map(total);
    if (piece != NULL) context->scratch_bytes += total;
  }
  if (piece == NULL) context->has_refused = 1;
  bare_unlock(&context->scratch_lock);
  if (piece == NULL) return NULL;
  piece->size = size;
  return piece + 1;
}

static void release(slipway_context* context, void* memory) {
  if (memory == NULL) return;
  bare_scratch* piece = (bare_scratch*)memory - 1;
  if (piece->size >= BARE_SCRATCH_SIZES) return;
  bare_lock(&context->scratch_lock);
  piece->next = context->free[piece->size];
  context->free[piece->size] = piece;
  bare_unlock(&context->scratch_lock);
}

static void error(slipway_context* context, const char* message) {
  if (__atomic_exchange_n(&context->has_error, 1, __ATOMIC_ACQ_REL)) return;
  uint32_t i = 0;
  for (; i + 1 < sizeof(context->error) && message[i] != 0; ++i) context->error[i] = message[i];
  context->error[i] = 0;
}

static int32_t parallel_for(slipway_context* context, slipway_task task, int32_t min,
                            int32_t extent, uint8_t* closure) {
  return bare_parallel_for(&context->pool, context, task, min, extent, closure);
}

const slipway_imports bare_imports = {parallel_for, allocate, release, error};

void bare_clear_context(slipway_context* context) {
  context->has_error = 0;
  context->error[0] = 0;
  context->has_refused = 0;
}

void bare_free_scratch(slipway_context* context) {
  for (uint32_t size = 0; size < BARE_SCRATCH_SIZES; ++size) {
    while (context->free[size] != NULL) {
      bare_scratch* piece = context->free[size];
      context->free[size] = piece->next;
      bare_unmap(piece, bytes_of(size));
    }
  }
}
