// KernelScratch: how much scratch memory a kernel asks for by the imports of kernel_abi.h.
#ifndef SLIPWAY_CORE_KERNEL_ABI_KERNEL_SCRATCH_H_
#define SLIPWAY_CORE_KERNEL_ABI_KERNEL_SCRATCH_H_

#include <cstdint>

namespace slipway {

// In bytes, at most, alive at one time; -1 where that is not known.
struct KernelScratch {
  int64_t call = -1;  // In a call that one thread does alone, its tasks one after the other.
  int64_t task = -1;  // Of it, in a task of a parallel loop; 0 where there is no such loop.

  friend bool operator==(const KernelScratch&, const KernelScratch&) = default;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_KERNEL_ABI_KERNEL_SCRATCH_H_
