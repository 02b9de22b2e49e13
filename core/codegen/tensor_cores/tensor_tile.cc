#include "core/codegen/tensor_cores/tensor_tile.h"

#include <algorithm>

namespace slipway {
namespace {

constexpr TensorTile kTiles[] = {
    {128, 128, 2, 4}, {128, 64, 2, 2}, {64, 128, 2, 2}, {64, 64, 2, 2},
    {32, 128, 1, 4},  {32, 64, 1, 4},  {32, 32, 2, 2},  {16, 128, 1, 4},
    {16, 64, 1, 4},   {16, 32, 1, 2},  {64, 16, 4, 1},
};

// Of a multiprocessor in a clock: multiplications of f16 or bf16, summed to f32, and bytes that it fetches from the second cache.
constexpr double kProducts = 1024;
constexpr double kBytes = 64;
// Until a warp has what it fetched, and what a group does before and behind its loop.
constexpr double kLatency = 600;
constexpr double kAround = 2000;

int64_t Parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

double Clocks(const TensorTile& tile, int64_t batch, int64_t m, int64_t n, int64_t k) {
  const int64_t groups = batch * Parts(m, tile.rows) * Parts(n, tile.columns);
  const auto of_one = static_cast<double>(Parts(groups, kMultiprocessors));
  const auto steps = static_cast<double>(Parts(k, kTensorTileDepth));
  const double multiplying =
      static_cast<double>(tile.rows) * tile.columns * kTensorTileDepth / kProducts;
  const auto fetched =
      static_cast<double>(std::min<int64_t>(tile.rows, m) + std::min<int64_t>(tile.columns, n));
  const double fetching = 4 * fetched * kTensorTileDepth / kBytes;
  // Warps of one multiprocessor hide each other's waiting: 16 of them most of it.
  const double warps = std::min(16.0, of_one * tile.warps());
  const double waiting = kLatency / warps;
  // They overlap, but not wholly.
  const double both = std::max(multiplying, fetching) + std::min(multiplying, fetching) / 4;
  return of_one * (steps * (both + waiting) + kAround / warps);
}

}  // namespace

absl::Span<const TensorTile> TensorTiles() { return kTiles; }

TensorTile ChooseTensorTile(int64_t batch, int64_t m, int64_t n, int64_t k) {
  return *std::min_element(std::begin(kTiles), std::end(kTiles),
                           [&](const TensorTile& a, const TensorTile& b) {
                             return Clocks(a, batch, m, n, k) < Clocks(b, batch, m, n, k);
                           });
}

}  // namespace slipway
