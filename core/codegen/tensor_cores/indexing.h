// Indexing: where elements of a tensor lie, by one number for several dimensions.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_INDEXING_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_INDEXING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/tensor/shape.h"

namespace slipway {

// From one number to an offset in elements: the number is taken apart into indices by the extents, outermost first. Neighbours that are as one
// are one; none of the extents is 1.
struct Indexing {
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;
};

// Of dimensions of these extents, outermost first: nothing where all strides are 0.
Indexing MergedIndexing(const std::vector<int64_t>& extents, const std::vector<int64_t>& strides);

// Of a tensor that broadcasts to a shape of so many dimensions: 0 along those that it repeats.
std::vector<int64_t> BroadcastStrides(const Shape& shape, size_t rank);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_INDEXING_H_
