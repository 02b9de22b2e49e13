// What the 32 instances of a warp do together.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_WARP_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_WARP_H_

#include "core/runtime/drivers/cuda/testing/ptx_instance.h"
#include "core/runtime/drivers/cuda/testing/ptx_shared.h"

namespace slipway::fake_cuda {

inline constexpr int kPtxWarp = 32;

// Does the instruction at which all of `lanes`, kPtxWarp neighbours of one warp, stand. Source of where elements of matrices lie:
// NVIDIA, "Parallel Thread Execution ISA", "Matrix Fragments for mma.m16n8k8", "... mma.m16n8k16 with floating point type" and
// "Warp-level matrix load instruction: ldmatrix". Sums are f32, each rounded, in the order of the depth, which no device promises.
void DoTogether(PtxInstance* lanes, PtxShared& shared);

}  // namespace slipway::fake_cuda

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_WARP_H_
