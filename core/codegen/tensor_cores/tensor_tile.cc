#include "core/codegen/tensor_cores/tensor_tile.h"

#include <algorithm>
#include <cmath>

namespace slipway {
namespace {

constexpr TensorTile kTiles[] = {
    {128, 128, 2, 2, 64},
    {128, 128, 2, 4, 64},
    {128, 64, 2, 2, 64},
    {64, 128, 2, 2, 64},
    {64, 64, 2, 2, 128},
    {32, 128, 1, 4, 64},
    {32, 64, 1, 4, 128},
    {32, 32, 2, 2, 128},
    {16, 64, 1, 4, 128},
    {16, 32, 1, 2, 64},
    {64, 16, 4, 1, 128},
    // Of warp groups.
    {128, 256, 8, 1, 128, true},
    {128, 128, 8, 1, 128, true},
    {128, 64, 8, 1, 128, true},
    {64, 128, 4, 1, 128, true},
    {64, 64, 4, 1, 128, true},
    {64, 32, 4, 1, 128, true},
};

// Of a multiprocessor in a clock: bytes that it moves to and from shared memory, and bytes that it fetches from the second cache.
constexpr double kShared = 128;
constexpr double kFetched = 64;
// Registers, and those of an instance beside its sums.
constexpr double kRegisters = 65536;
constexpr double kOtherRegisters = 100;
// Until a warp has what it fetched, and what a group does before and behind its loop.
constexpr double kLatency = 600;
constexpr double kAround = 2000;

int64_t Parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

// Of another launch.
constexpr double kLaunch = 3000;
// Of sums: what offsets in elements can say, and what is too much memory for what it brings.
constexpr int64_t kMostSums = int64_t{1} << 24;

double Clocks(const TensorGpu& gpu, const ProductDivision& division, int64_t batch, int64_t m,
              int64_t n, int64_t k, int number_bytes) {
  const TensorTile& tile = division.tile;
  const int64_t groups = batch * Parts(m, tile.rows) * Parts(n, tile.columns) * division.parts;
  const auto of_one = static_cast<double>(Parts(groups, gpu.multiprocessors));
  const int64_t depth = tile.depth_bytes / number_bytes;
  const auto steps = static_cast<double>(Parts(Parts(k, depth), division.parts));
  const double multiplying =
      static_cast<double>(tile.rows) * tile.columns * tile.depth_bytes /
      (tile.is_of_warp_groups ? gpu.multiplied_by_warp_groups : gpu.multiplied);
  // Written once, read by each warp, or warp group, that multiplies it.
  const double read = tile.is_of_warp_groups
                          ? tile.rows / kWarpGroupRows * (kWarpGroupRows + tile.columns)
                          : tile.warps() * (tile.warp_rows() + tile.warp_columns());
  const double sharing = (read + tile.rows + tile.columns) * tile.depth_bytes / kShared;
  const auto fetched =
      static_cast<double>(std::min<int64_t>(tile.rows, m) + std::min<int64_t>(tile.columns, n));
  const double fetching = 4 * fetched * static_cast<double>(depth) / kFetched;
  // Groups that are there at a time hide each other's waiting, 16 warps most of it.
  const double sums = static_cast<double>(tile.rows) * tile.columns / tile.instances();
  // A step or two more of each factor than are multiplied.
  const double shared =
      (tile.steps_at_once() + 1.5) * (tile.rows + tile.columns) * tile.depth_bytes;
  const double fit =
      std::max(1.0, std::floor(std::min(kRegisters / (tile.instances() * (sums + kOtherRegisters)),
                                        gpu.shared_bytes / shared)));
  const double warps = std::min(16.0, std::min(of_one, fit) * tile.warps());
  const double waiting = kLatency / warps;
  // All of it overlaps, but not wholly.
  const double longest = std::max({multiplying, sharing, fetching});
  const double all = longest + (multiplying + sharing + fetching - longest) / 4;
  const double whole = of_one * (steps * (all + waiting) + kAround / warps);
  if (division.parts == 1) return whole;
  const auto sums_moved = static_cast<double>(2 * division.parts * batch * m * n);
  return whole + kLaunch + 4 * sums_moved / (kFetched * static_cast<double>(gpu.multiprocessors));
}

}  // namespace

absl::Span<const TensorTile> TensorTiles() { return kTiles; }

bool CanDivide(const ProductDivision& division, int64_t elements, int64_t k, int number_bytes) {
  const int64_t steps = Parts(k, division.tile.depth_bytes / number_bytes);
  const int64_t parts = division.parts;
  return parts == 1 || (parts > 1 && parts <= kMostParts && elements <= kMostSums / parts &&
                        Parts(steps, Parts(steps, parts)) == parts);
}

ProductDivision ChooseDivision(const TensorGpu& gpu, int64_t batch, int64_t m, int64_t n, int64_t k,
                               int number_bytes) {
  return RankDivisions(gpu, batch, m, n, k, number_bytes).front();
}

std::vector<ProductDivision> RankDivisions(const TensorGpu& gpu, int64_t batch, int64_t m,
                                           int64_t n, int64_t k, int number_bytes) {
  struct Ranked {
    ProductDivision division;
    double clocks;
  };
  std::vector<Ranked> ranked;
  for (const TensorTile& tile : kTiles) {
    if (!gpu.Has(tile)) continue;
    for (int parts = 1; parts <= kMostParts; ++parts) {
      const ProductDivision division{tile, parts};
      if (!CanDivide(division, batch * m * n, k, number_bytes)) continue;
      ranked.push_back({division, Clocks(gpu, division, batch, m, n, k, number_bytes)});
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.clocks < b.clocks; });
  std::vector<ProductDivision> divisions;
  for (const Ranked& each : ranked) divisions.push_back(each.division);
  return divisions;
}

}  // namespace slipway
