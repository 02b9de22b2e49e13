// The arithmetic of schedules, free of Halide: how many accumulators a tile has, how many tasks a loop
// is cut into.
#ifndef SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_TILES_H_
#define SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_TILES_H_

#include <cstdint>

#include "core/target/machine_description.h"

namespace slipway {

// A tile of `width` positions times `blocks` blocks of channels, each vector of which is an accumulator register.
struct AccumulatorTile {
  int width = 1;
  int blocks = 1;
};

// Larger ones are more code than any machine has registers for.
inline constexpr int kMaxTileWidth = 32;
inline constexpr int kMaxTileBlocks = 16;

// What the tiles of a convolution read.
struct TileOperands {
  int64_t input_bytes = 0;         // Of an image.
  int64_t block_weight_bytes = 0;  // Of one block of channels.
  // A step is of several products (ConvolutionStages::terms), which another instruction adds to the accumulators: a broadcast and
  // a product hold registers besides, and accumulators wait for additions alone.
  bool adds_apart = false;
  // Inputs are loaded as vectors, one for each position of a tile, and stay in registers while they are multiplied element by element.
  bool holds_inputs = false;
  // Vectors of a block.
  int block_vectors = 1;
};

// The tile by which `num_positions` take the least time for a block. One step of the reduction loads `blocks` weight vectors
// and broadcasts `width` inputs for width * blocks multiply-adds, and accumulators are needed to cover the latency; tiles that
// overlap at the right edge compute some positions twice. What is read from far away counts more: an image that no cache of
// the core holds makes for more blocks, weights that the first-level cache does not hold for more positions. `blocks` of the
// result divides `num_blocks`; `width` is at most `num_positions`.
AccumulatorTile ChooseTile(const MachineDescription& machine, int num_positions, int num_blocks,
                           const TileOperands& operands = {});

// How many of a row's positions are computed at once, at most `most` of them, where each is a sum of its own of few products: what begins and ends a tile
// takes as long as a position, and those that overlap at the row's end are computed twice.
int ChooseRowTile(int positions, int most);

// A convolution's tile of sums in tile registers (core/codegen/tile_shapes.h): so many positions of so many rows.
struct PositionTile {
  int width = 1;
  int height = 1;
};

// The one by which an image of such rows takes the least time, with blocks of so many channels. A register's rows are positions of one
// row of the image, so that of short ones two stand below each other.
PositionTile ChoosePositionTile(int width, int height, int block);

// Whether the loop over a tile's blocks is inside the one over its positions: the fewer of weights and broadcast inputs stay in
// registers, while the others come from memory.
inline bool KeepsWeights(const AccumulatorTile& tile) { return tile.blocks <= tile.width; }

// A tile of a matrix product: so many rows times panels of columns, each vector of them an accumulator register.
struct ProductTile {
  int rows = 1;
  int panels = 1;
};

// The tile by which a product of so many rows and panels of `panel_vectors` vectors takes the least time, what overlapping
// tiles compute twice at the edges included. `rows` and `panels` of the result are at most the given ones. All but tiles of
// one row hold their accumulators, the vectors of the right operand and one broadcast in registers.
ProductTile ChooseProductTile(int rows, int panels, int panel_vectors, int vector_registers);

// The smallest divisor d of `extent` such that outer * d >= wanted, or `extent` if there is none:
// into how many pieces to cut a loop below one of `outer` iterations to have `wanted` tasks.
int PiecesFor(int64_t outer, int extent, int64_t wanted);

// The largest divisor of `extent` that is at most `limit`. REQUIRES: limit >= 1.
int LargestDivisor(int extent, int limit);

inline int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The least odd number that is as large. Where what a step reads is apart in memory by a product of such, it is no multiple of a page, for
// which a cache has few lines.
inline int Odd(int number) { return number | 1; }

// Tasks a kernel's outer loop is cut into for each core: enough for a balanced load, few enough that
// starting one costs nothing against its work.
inline constexpr int64_t kTasksPerCore = 4;
// Elements of simple work that are worth a task of their own.
inline constexpr int64_t kElementsPerTask = 16'384;
// Multiply-adds of a product that are, some microseconds.
inline constexpr int64_t kMultiplyAddsPerTask = 1 << 18;

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_SCHEDULES_CPU_TILES_H_
