// What four warps do together: products of matrices that lie in what the group shares, while its instances do other things (wgmma).
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_WARP_GROUP_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_WARP_GROUP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/runtime/drivers/cuda/testing/ptx_instance.h"
#include "core/runtime/drivers/cuda/testing/ptx_shared.h"

namespace slipway::fake_cuda {

inline constexpr size_t kPtxWarpGroup = 128;

// Source: NVIDIA, "Parallel Thread Execution ISA", "Asynchronous warpgroup level matrix instructions": where sums lie in registers ("Register Fragments
// for wgmma.mma_async.m64nNk16"), factors in shared memory ("Shared Memory Matrix Layout", of which it knows the swizzle of 128 bytes), and what a
// descriptor of these says ("Matrix Descriptor Format"). Sums are f32, each rounded, in the order of the depth, which no device promises.
//
// Products are made when they are issued; what watches over shared memory (ptx_shared.h) and registers (ptx_instance.h) lets nobody see that.
class PtxWarpGroup {
 public:
  // Does the instruction at which all of `lanes`, kPtxWarpGroup neighbours, stand.
  void DoTogether(PtxInstance* lanes, PtxShared& shared);

 private:
  // 16 bytes that a product reads.
  using Pieces = std::vector<uint64_t>;

  void Multiply(PtxInstance* lanes, PtxShared& shared);
  void Await(PtxInstance* lanes, PtxShared& shared);

  Pieces open_;                   // Of products since the last group of them.
  std::deque<Pieces> committed_;  // By group, the oldest first.
};

}  // namespace slipway::fake_cuda

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_PTX_WARP_GROUP_H_
