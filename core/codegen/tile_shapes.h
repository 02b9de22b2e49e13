// What tile registers hold (AMX: Intel's Software Developer's Manual, volume 1, chapter 18), free of Halide and LLVM.
#ifndef SLIPWAY_CORE_CODEGEN_TILE_SHAPES_H_
#define SLIPWAY_CORE_CODEGEN_TILE_SHAPES_H_

namespace slipway {

// A whole register: so many rows of so many bytes.
inline constexpr int kTileRows = 16;
inline constexpr int kTileRowBytes = 64;
// A row is so many sums, of 32 bits,
inline constexpr int kTileColumns = kTileRowBytes / 4;
// or so many steps of a left factor: 2 terms of bf16, or 4 of 8 bits, whose products are added at once.
inline constexpr int kTileStepBytes = 4;

// Registers of sums are a block of so many by so many, of which each factor's are used as often.
inline constexpr int kBlockTiles = 2;

// The steps that a register takes at once, of so many that a sum has: the most that divide them.
int StepsOfTile(int steps);

// Whether sums of so many columns, of so many steps each, are worth it: whole rows, and registers that take enough steps at once to be loaded.
bool FillsTiles(int columns, int steps);

// Rows of sums in registers below each other: as many in each where that comes out even, else whole registers and a rest.
struct TileRows {
  int whole = 0;  // Registers,
  int rows = 0;   // of so many rows;
  int rest = 0;   // one more of so many, or 0.
};
TileRows TileRowsOf(int rows);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TILE_SHAPES_H_
