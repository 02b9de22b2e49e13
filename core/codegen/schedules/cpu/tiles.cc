#include "core/codegen/schedules/cpu/tiles.h"

#include <algorithm>

#include "core/codegen/tile_shapes.h"

namespace slipway {
namespace {

// Multiply-adds in flight that hide the latency of one: 4 cycles times two units.
constexpr int kLatencyTimesUnits = 8;
// Of pairs: a sum waits for an addition alone.
constexpr int kPairLatencyTimesUnits = 4;
// Of a product's tile: each is a stream from memory of its own.
constexpr int kMaxPanels = 8;

// Half cycles that a load takes beside the others, as measured on a Zen 3: of an element that is broadcast, from the caches of
// the core or from beyond, and of a vector of weights, from the first-level cache or the second.
constexpr double kNearElement = 0.1, kFarElement = 1.7;
constexpr double kNearVector = 0.2, kFarVector = 0.8;

// Inputs that are held come four at a time, one load for four times a tile's multiply-adds, so that it matters little from
// where, and weights by vectors of half the bytes of those that were measured. But a load takes the place of a multiply-add where a processor begins instructions in their order, as small ones of
// arm-64 do.
constexpr double kHeldInputs = 4;
constexpr double kHeldWeights = 2;
constexpr double kPlaceOfLoad = 1;

// Of a product's tiles that take as long, the largest: it loads less.
constexpr double kAsFast = 1.002;

struct StepTimes {
  double latency_times_units = kLatencyTimesUnits;
  double element = kNearElement;
  double vector = kNearVector;
  // Of the units that load.
  double load_of_element = 1;
  double load_of_vector = 2;
  double place_of_load = 0;
};

// Half cycles that a step of a tile takes, the multiply-adds of `rows` broadcast elements by `vectors`, its share of what begins
// and ends the tile included.
double StepTime(int rows, int vectors, const StepTimes& times) {
  const double multiply_adds = rows * vectors;
  const double loads = rows * times.load_of_element + vectors * times.load_of_vector;
  return std::max({multiply_adds, loads, times.latency_times_units}) + 1 + rows * times.element +
         vectors * times.vector + loads * times.place_of_load;
}

// Leaves registers for the weight vectors and one broadcast.
int MaxAccumulators(const MachineDescription& machine, const TileOperands& operands, int width,
                    int blocks) {
  constexpr int kMost = 28;
  // With several blocks LLVM keeps the broadcast inputs in registers, too, where they are read for block after block or where a sum is so
  // short that it unrolls all of it, and spills above half of the 32.
  constexpr int kHalf = 16;
  constexpr int kShortSum = 64;
  if (machine.vector_registers < 32) return 12;
  if (blocks * operands.block_vectors == 1) return kMost;
  const int64_t weights = operands.block_weight_bytes;
  const bool is_short = weights < kShortSum * machine.vector_bytes * operands.block_vectors;
  const bool reads_inputs_once = blocks <= width && !operands.holds_inputs && !operands.adds_apart;
  // More blocks than the second-level cache has room for, beside the next ones, come from further away for each row.
  const bool is_near = 2 * blocks * weights <= machine.l2_bytes;
  return reads_inputs_once && !is_short && is_near ? kMost : kHalf;
}

// Registers that a step needs beside its sums: those of weights and inputs that stay in them, and one of what meets these. LLVM has no
// broadcast within a multiply-add, and a sum without a register waits in each step until the stack has it.
int HeldBeside(const TileOperands& operands, int width, int blocks) {
  const int vectors = blocks * operands.block_vectors;
  if (operands.holds_inputs) return width + vectors + 1;
  if (operands.adds_apart) return vectors + 2;
  return (KeepsWeights({width, blocks}) ? vectors : width) + 1;
}

// Cycles that a row of a tile register takes to be loaded, and what is lost at each step of a block, as measured on a Sapphire Rapids.
constexpr double kRegisterRow = 0.75;
constexpr double kRegisterStep = 2;

// Cycles of a step of sums in so many registers of so many rows each, times those of the columns.
double RegisterTime(int registers, int rows, int columns) {
  const int column_registers = (columns + kTileColumns - 1) / kTileColumns;
  double time = 0;
  for (int i = 0; i < registers; i += kBlockTiles) {
    const int down = std::min(kBlockTiles, registers - i);
    for (int j = 0; j < column_registers; j += kBlockTiles) {
      const int across = std::min(kBlockTiles, column_registers - j);
      const double products = rows * down * across;
      const double loads = (rows * down + kTileRows * across) * kRegisterRow;
      time += std::max(products, loads) + kRegisterStep;
    }
  }
  return time;
}

}  // namespace

AccumulatorTile ChooseTile(const MachineDescription& machine, int num_positions, int num_blocks,
                           const TileOperands& operands) {
  StepTimes times;
  if (operands.adds_apart) times.latency_times_units = kPairLatencyTimesUnits;
  if (operands.input_bytes > machine.l2_bytes) times.element = kFarElement;
  if (operands.holds_inputs) {
    times.element = kNearElement / kHeldInputs;
    times.load_of_element = 1 / kHeldInputs;
    times.load_of_vector = 1;
    times.place_of_load = kPlaceOfLoad;
  }
  AccumulatorTile best;
  double least = 0;
  for (int blocks = std::min(num_blocks, kMaxTileBlocks); blocks >= 1; --blocks) {
    if (num_blocks % blocks != 0) continue;
    const int vectors = blocks * operands.block_vectors;
    times.vector =
        blocks * operands.block_weight_bytes > machine.l1_bytes ? kFarVector : kNearVector;
    if (operands.holds_inputs) times.vector /= kHeldWeights;
    for (int width = std::min(num_positions, kMaxTileWidth); width >= 1; --width) {
      if (width * vectors > MaxAccumulators(machine, operands, width, blocks)) continue;
      if (width * vectors + HeldBeside(operands, width, blocks) > machine.vector_registers)
        continue;
      const int tiles = (num_positions + width - 1) / width;
      const double time = tiles * StepTime(width, vectors, times) / blocks;
      if (least == 0 || time < least) {
        least = time;
        best = {width, blocks};
      }
    }
  }
  return best;
}

int ChooseRowTile(int positions, int most) {
  int best = 1;
  int least = 0;
  for (int width = std::min(positions, most); width >= 1; --width) {
    const int tiles = (positions + width - 1) / width;
    const int time = tiles * (width + 1);
    if (least != 0 && time >= least) continue;
    least = time;
    best = width;
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
      const auto row_tiles = (rows + r - 1) / r;
      const double time = row_tiles * column_tiles * StepTime(r, vectors, StepTimes());
      if (least == 0 || time < least * kAsFast) {
        least = time;
        best = {r, p};
      }
    }
  }
  return best;
}

PositionTile ChoosePositionTile(int width, int height, int block) {
  PositionTile best;
  double least = 0;
  for (int h = 1; h <= std::min(height, kBlockTiles); ++h) {
    for (int w = 1; w <= std::min(width, kBlockTiles * kTileRows); ++w) {
      const int tiles = (width + w - 1) / w * ((height + h - 1) / h);
      const TileRows rows = TileRowsOf(w);
      const double time = tiles * (RegisterTime(rows.whole * h, rows.rows, block) +
                                   (rows.rest > 0 ? RegisterTime(h, rows.rest, block) : 0));
      if (least != 0 && time >= least) continue;
      least = time;
      best = {w, h};
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
