// How a product of matrices is divided among groups and warps of a GPU with tensor cores.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_TENSOR_TILE_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_TENSOR_TILE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace slipway {

// A group makes `rows` x `columns` of the result, its warps each a part of that; both go through the depth so many bytes at a time, as its numbers are in
// shared memory. Warps multiply each for itself (mma.sync), or four together what lies in shared memory, 64 rows and all columns, while they do other things
// (wgmma).
struct TensorTile {
  int rows = 0;
  int columns = 0;
  int warps_of_rows = 0;
  int warps_of_columns = 0;
  int depth_bytes = 64;  // A power of two.
  bool is_of_warp_groups = false;

  // Steps that are multiplied at a time.
  int steps_at_once() const { return is_of_warp_groups ? 2 : 1; }
  int warps() const { return warps_of_rows * warps_of_columns; }
  int instances() const { return 32 * warps(); }
  int warp_rows() const { return rows / warps_of_rows; }           // A multiple of 16,
  int warp_columns() const { return columns / warps_of_columns; }  // and so is this.

  friend bool operator==(const TensorTile&, const TensorTile&) = default;
};

// Of all tiles.
inline constexpr int kMostDepthBytes = 128;
inline constexpr int kWarpGroupRows = 64;

// What is known of a kind of GPU. Of a multiprocessor in a clock: bytes of factors that it multiplies, each with one of the other matrix, summed to f32.
struct TensorGpu {
  int64_t multiprocessors = 0;
  double multiplied = 0;                 // By warps,
  double multiplied_by_warp_groups = 0;  // and by four together; 0 where there is no such thing.
  double shared_bytes = 0;               // Of a multiprocessor.

  bool Has(const TensorTile& tile) const {
    return !tile.is_of_warp_groups || multiplied_by_warp_groups > 0;
  }
};
// Source: NVIDIA, "A100 Tensor Core GPU Architecture" (2020), and "H100 Tensor Core GPU Architecture" (2022): 312 and 989 T operations a second in f16, by 108
// and 132 multiprocessors, at 1.41 and 1.83 GHz. That warps reach five eighths of that on H100: Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU
// Architecture via Microbenchmarking" (2024).
inline constexpr TensorGpu kA100 = {108, 2048, 0, 164 << 10};
inline constexpr TensorGpu kH100 = {132, 2560, 4096, 228 << 10};

// How a product is divided: by tiles, and its depth into parts, whose sums are added up behind.
struct ProductDivision {
  TensorTile tile;
  int parts = 1;

  friend bool operator==(const ProductDivision&, const ProductDivision&) = default;
};
inline constexpr int kMostParts = 16;

// All there are, of either kind.
absl::Span<const TensorTile> TensorTiles();

// Whether each part has a step, and all sums have room: elements of a result, and the depth, with numbers of so many bytes.
bool CanDivide(const ProductDivision& division, int64_t elements, int64_t k, int number_bytes);

// The one by which a GPU is expected to be done first, with numbers of so many bytes. A model, in clocks: a multiprocessor works off its
// share of the groups, each step of the depth as long as the slowest of multiplying, moving through shared memory and fetching takes; a small tile reads more
// often, a large one leaves multiprocessors without work or multiplies beyond the edge. Parts of the depth are work for more of them, at the price of a launch and of
// sums that are written and read again.
ProductDivision ChooseDivision(const TensorGpu& gpu, int64_t batch, int64_t m, int64_t n, int64_t k,
                               int number_bytes);

// All by which it can be divided, in the order in which that model expects them to be done.
std::vector<ProductDivision> RankDivisions(const TensorGpu& gpu, int64_t batch, int64_t m,
                                           int64_t n, int64_t k, int number_bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_TENSOR_TILE_H_
