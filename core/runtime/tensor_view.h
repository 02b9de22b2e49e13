// TensorView: a tensor in memory that somebody else keeps.
#ifndef SLIPWAY_CORE_RUNTIME_TENSOR_VIEW_H_
#define SLIPWAY_CORE_RUNTIME_TENSOR_VIEW_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/runtime/device.h"
#include "core/runtime/memory_pool.h"
#include "core/tensor/dtype.h"

namespace slipway {

// What a function is called with, and what it gives.
struct TensorView {
  DataType dtype = DataType::kInvalid;
  absl::Span<const int64_t> extents;  // Outermost first.
  // Begins with the tensor, in the space of the buffer it is given to.
  DeviceMemory memory;
  // The block that `memory` begins, if whoever is given the view may keep it by one more hold.
  MemoryPool::Block* block = nullptr;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_TENSOR_VIEW_H_
