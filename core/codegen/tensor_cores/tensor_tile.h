// How a product of matrices is divided among groups and warps of a GPU with tensor cores.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_TENSOR_TILE_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_TENSOR_TILE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace slipway {

// A group makes `rows` x `columns` of the result, its warps each a part of that; both go through the depth so many bytes at a time, as its numbers are in
// shared memory.
struct TensorTile {
  int rows = 0;
  int columns = 0;
  int warps_of_rows = 0;
  int warps_of_columns = 0;
  int depth_bytes = 64;  // A power of two.

  int warps() const { return warps_of_rows * warps_of_columns; }
  int instances() const { return 32 * warps(); }
  int warp_rows() const { return rows / warps_of_rows; }           // A multiple of 16,
  int warp_columns() const { return columns / warps_of_columns; }  // and so is this.

  friend bool operator==(const TensorTile&, const TensorTile&) = default;
};

// Of all tiles.
inline constexpr int kMostDepthBytes = 128;

// How a product is divided: by tiles, and its depth into parts, whose sums are added up behind.
struct ProductDivision {
  TensorTile tile;
  int parts = 1;

  friend bool operator==(const ProductDivision&, const ProductDivision&) = default;
};
inline constexpr int kMostParts = 16;

// All there are.
absl::Span<const TensorTile> TensorTiles();

// Whether each part has a step, and all sums have room: elements of a result, and the depth, with numbers of so many bytes.
bool CanDivide(const ProductDivision& division, int64_t elements, int64_t k, int number_bytes);

// The one by which a GPU of kMultiprocessors is expected to be done first, with numbers of so many bytes. A model, in clocks: a multiprocessor works off its
// share of the groups, each step of the depth as long as the slowest of multiplying, moving through shared memory and fetching takes; a small tile reads more
// often, a large one leaves multiprocessors without work or multiplies beyond the edge. Parts of the depth are work for more of them, at the price of a launch and of
// sums that are written and read again.
ProductDivision ChooseDivision(int64_t batch, int64_t m, int64_t n, int64_t k, int number_bytes);

// As GPUs of 8.0 and 9.0 for servers have about: the target does not say.
inline constexpr int64_t kMultiprocessors = 108;

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_TENSOR_TILE_H_
