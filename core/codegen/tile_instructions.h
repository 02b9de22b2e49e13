// Instructions on tile registers, between Halide's lowering, which has no words for them, and LLVM's machine code: a call of a function that
// nobody defines stands for each. Registers are named, by numbers, since LLVM 14 loses all rows but the first of what it moves out of
// registers that it chooses itself.
#ifndef SLIPWAY_CORE_CODEGEN_TILE_INSTRUCTIONS_H_
#define SLIPWAY_CORE_CODEGEN_TILE_INSTRUCTIONS_H_

#include "core/codegen/tile_shapes.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace slipway {

// The calls, whose results mean nothing; registers and rows are constants of 32 bits, offsets and strides bytes, of 64.
// - configure(rows, steps): registers of sums and left factors have so many rows, those of right factors as many as there are steps.
//   A step is 4 bytes of a left factor's row: 2 of bf16, or 4 of 8 bits. All other rows have 64 bytes.
inline constexpr char kTileConfigure[] = "slipway_tile_configure";
// - zero(register)
inline constexpr char kTileZero[] = "slipway_tile_zero";
// - load(register, base, offset, stride of rows)
inline constexpr char kTileLoad[] = "slipway_tile_load";
// - multiply(sums, left, right): adds products of bf16 to sums of f32,
inline constexpr char kTileMultiplyBfloat16[] = "slipway_tile_multiply_bfloat16";
// or of u8 and i8 to sums of i32, which wrap around.
inline constexpr char kTileMultiplyBytes[] = "slipway_tile_multiply_bytes";
// - store(register, base, offset, stride of rows)
inline constexpr char kTileStore[] = "slipway_tile_store";
// - release(): registers hold nothing any more, and cost the system nothing.
inline constexpr char kTileRelease[] = "slipway_tile_release";

// The registers: 4 of sums, 2 of each factor.
constexpr int SumRegister(int row, int column) { return row * kBlockTiles + column; }
constexpr int LeftRegister(int row) { return kBlockTiles * kBlockTiles + row; }
constexpr int RightRegister(int column) { return LeftRegister(kBlockTiles) + column; }
inline constexpr int kTileRegisters = 8;

// Puts instructions in the place of the calls. LLVM's optimizations must be done.
void WriteTileInstructions(llvm::Module& module);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TILE_INSTRUCTIONS_H_
