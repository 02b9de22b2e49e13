// How a convolution whose channels have a window each is divided among the instances of a GPU.
#ifndef SLIPWAY_CORE_CODEGEN_DEPTHWISE_DEPTHWISE_TILE_H_
#define SLIPWAY_CORE_CODEGEN_DEPTHWISE_DEPTHWISE_TILE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/codegen/tensor_cores/matrix_product.h"
#include "core/codegen/tensor_cores/tensor_tile.h"

namespace slipway {

// An instance makes so many rows and columns of a plane, which it sums up in registers while it goes through what their windows see.
struct DepthwiseTile {
  int rows = 0;
  int columns = 0;

  friend bool operator==(const DepthwiseTile&, const DepthwiseTile&) = default;
};
inline constexpr int kDepthwiseThreads = 128;  // Of a group.
// A window of more elements does not stay in registers.
inline constexpr int64_t kMostDepthwiseElements = 64;

// All there are.
absl::Span<const DepthwiseTile> DepthwiseTiles();

// The one by which a GPU is expected to be done first. A model, in clocks: each quarter of a multiprocessor issues an instruction a clock, and works off its share of the warps. A large tile
// loads less for each element, a small one leaves fewer multiprocessors without work and less beyond the edge. REQUIRES: `product` is DecodeDepthwise's.
DepthwiseTile ChooseDepthwiseTile(const TensorGpu& gpu, const MatrixProduct& product);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_DEPTHWISE_DEPTHWISE_TILE_H_
