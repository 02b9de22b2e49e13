/* The loops that find out how fast memory is read; as sum_loops.h. */
#ifndef SLIPWAY_CORE_TARGET_READ_LOOPS_H_
#define SLIPWAY_CORE_TARGET_READ_LOOPS_H_

#include <stdint.h>

#include "core/target/peak_rows.h"

/* `function(data, bytes)`: reads all of it, a multiple of SLIPWAY_READ_STEP, and says what no compiler leaves out. */
#define SLIPWAY_READING(function, attributes, width)                                         \
  attributes static uint64_t function(const char* data, int64_t bytes) {                     \
    typedef uint64_t Vector __attribute__((vector_size(width)));                             \
    Vector sums[SLIPWAY_READ_STEP / (width)];                                                \
    Vector total = {0};                                                                      \
    int64_t at;                                                                              \
    int i;                                                                                   \
    for (i = 0; i < SLIPWAY_READ_STEP / (width); ++i) sums[i] = total;                       \
    for (at = 0; at < bytes; at += SLIPWAY_READ_STEP) {                                      \
      const Vector* vectors = (const Vector*)(const void*)(data + at);                       \
      _Pragma("clang loop unroll(full)") for (i = 0; i < SLIPWAY_READ_STEP / (width); ++i) { \
        sums[i] ^= vectors[i];                                                               \
      }                                                                                      \
    }                                                                                        \
    for (i = 0; i < SLIPWAY_READ_STEP / (width); ++i) total ^= sums[i];                      \
    return total[0];                                                                         \
  }

#if defined(__x86_64__)
#define SLIPWAY_OWN_READS SLIPWAY_X86_64_READS
SLIPWAY_READING(Read512, __attribute__((target("avx512f"), noinline)), 64)
SLIPWAY_READING(Read256, __attribute__((target("avx2"), noinline)), 32)
#else
#define SLIPWAY_OWN_READS SLIPWAY_OTHER_READS
#endif

SLIPWAY_READING(Read128, __attribute__((noinline)), 16)

#endif /* SLIPWAY_CORE_TARGET_READ_LOOPS_H_ */
