// Loops whose turns may run at once. Freestanding: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_PARALLEL_H_
#define SLIPWAY_CORE_KERNELS_PARALLEL_H_

#include <stdint.h>

#include "core/kernels/call.h"

extern "C" {
// As call.h has the other imports: parallel_for of kernel_abi.h.
int32_t slipway_parallel_for(void* context,
                             int32_t (*task)(void* context, int32_t index, uint8_t* closure),
                             int32_t min, int32_t extent, uint8_t* closure);
}

namespace slipway::kernels {

// turn(call, i) for each i in [0, count), in any order, on any threads; returns when all are done. A turn asks for memory by the call
// that it is given.
template <typename Turn>
void ForEachInParallel(const Call& call, int64_t count, const Turn& turn) {
  struct Loop {
    const Call& call;
    const Turn& turn;
  };
  const auto task = [](void* context, int32_t index, uint8_t* closure) -> int32_t {
    const Loop& loop = *reinterpret_cast<const Loop*>(closure);
    loop.turn(loop.call.In(context), int64_t{index});
    return 0;
  };
  Loop loop = {call, turn};
  slipway_parallel_for(call.context(), task, 0, static_cast<int32_t>(count),
                       reinterpret_cast<uint8_t*>(&loop));
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_PARALLEL_H_
