#include "core/codegen/schedules/cpu/tiles.h"

#include <algorithm>

namespace slipway {
namespace {

// Multiply-adds in flight that hide the latency of one: 4 to 5 cycles times two units.
constexpr int kLatencyTimesUnits = 10;

// The same in a product, whose loads come in time.
constexpr int kProductLatencyTimesUnits = 8;
// Of a product's tile: each is a stream from memory of its own.
constexpr int kMaxPanels = 8;

double UsefulShare(int num_positions, int width, int blocks) {
  const int multiply_adds = width * blocks;
  // Weights stream from the second-level cache; inputs mostly sit in the first.
  const int loads = width + 2 * blocks;
  const int slots = std::max({multiply_adds, loads, kLatencyTimesUnits});
  const int tiles = (num_positions + width - 1) / width;
  return static_cast<double>(num_positions) * blocks / (static_cast<double>(tiles) * slots);
}

}  // namespace

AccumulatorTile ChooseTile(int num_positions, int num_blocks, int vector_registers) {
  // Leaves registers for the weight vectors and one broadcast. With several blocks LLVM also keeps the
  // broadcast inputs in registers, and spills above half of the 32.
  const int max_of_one_block = vector_registers == 32 ? 28 : 12;
  const int max_of_several = vector_registers == 32 ? 16 : 12;
  AccumulatorTile best;
  double best_share = 0;
  for (int blocks = std::min(num_blocks, max_of_several); blocks >= 1; --blocks) {
    if (num_blocks % blocks != 0) continue;
    const int max_accumulators = blocks == 1 ? max_of_one_block : max_of_several;
    for (int width = std::min(num_positions, max_accumulators / blocks); width >= 1; --width) {
      if (width * blocks + blocks > vector_registers) continue;
      // At equal shares the tile with fewer loads a multiply-add is better: the squarer one.
      const double squareness =
          static_cast<double>(width * blocks) / (width + blocks) / max_accumulators;
      const double share = UsefulShare(num_positions, width, blocks) + 0.02 * squareness;
      if (share > best_share + 1e-9) {
        best_share = share;
        best = {width, blocks};
      }
    }
  }
  return best;
}

ProductTile ChooseProductTile(int rows, int panels, int panel_vectors, int vector_registers) {
  ProductTile best;
  double least = 0;
  for (int p = 1; p <= std::min(panels, kMaxPanels); ++p) {
    const int vectors = p * panel_vectors;
    const auto column_tiles = (panels + p - 1) / p;
    for (int r = 1; r <= rows; ++r) {
      if (r * p > 1 && r * vectors + vectors + 1 > vector_registers) break;
      const int loads = r + 2 * vectors;  // As in UsefulShare.
      const int slots = std::max({r * vectors, loads, kProductLatencyTimesUnits});
      const auto row_tiles = (rows + r - 1) / r;
      // A step of a tile has its share of what begins and ends the tile, and loads that miss.
      const double time = 1.0 * row_tiles * column_tiles * (slots + 1 + 0.1 * loads);
      if (least == 0 || time < least) {
        least = time;
        best = {r, p};
      }
    }
  }
  return best;
}

int PiecesFor(int64_t outer, int extent, int64_t wanted) {
  for (int pieces = 1; pieces < extent; ++pieces) {
    if (extent % pieces == 0 && outer * pieces >= wanted) return pieces;
  }
  return std::max(extent, 1);
}

int LargestDivisor(int extent, int limit) {
  for (int divisor = std::min(extent, limit); divisor > 1; --divisor) {
    if (extent % divisor == 0) return divisor;
  }
  return 1;
}

}  // namespace slipway
