/* What a probe computes: the same bits on every sound machine, by integers and by f32 whose every result is rounded once. */
#include "core/kernel_abi/kernel_source.h"

enum { kRounds = 2000 };

static int32_t mix(void** args) {
  const uint32_t* x = (const uint32_t*)slipway_tensor(args, 0)->host;
  uint32_t* y = (uint32_t*)slipway_tensor(args, 1)->host;
  for (int64_t i = 0; i < slipway_elements(args, 1); ++i) {
    uint32_t h = x[i];
    float f = 1;
    for (int32_t round = 0; round < kRounds; ++round) {
      h = h * 1664525u + 1013904223u;
      h ^= h >> 13;
      /* The product is exact, so that one rounding is left, fused or not. */
      f = f * 0.5f + (float)(h & 0xffff);
    }
    union {
      float number;
      uint32_t bits;
    } last;
    last.number = f;
    y[i] = h ^ last.bits;
  }
  return SLIPWAY_OK;
}

SLIPWAY_KERNELS({mix, 2, 0})
