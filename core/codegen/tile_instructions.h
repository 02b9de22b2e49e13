// Instructions on tile registers, between Halide's lowering, which has no words for them, and LLVM's machine code: a call of a function that
// nobody defines stands for each. Registers are named, by numbers, since LLVM 14 loses all rows but the first of what it moves out of
// registers that it chooses itself.
#ifndef SLIPWAY_CORE_CODEGEN_TILE_INSTRUCTIONS_H_
#define SLIPWAY_CORE_CODEGEN_TILE_INSTRUCTIONS_H_

namespace llvm {
class Module;
}  // namespace llvm

namespace slipway {

// The calls, whose results mean nothing; registers and rows are constants of 32 bits, offsets and strides bytes, of 64.
// - configure(rows): registers of sums and left factors have so many rows, of 64 bytes as all have, those of right factors 16.
inline constexpr char kTileConfigure[] = "slipway_tile_configure";
// - zero(register)
inline constexpr char kTileZero[] = "slipway_tile_zero";
// - load(register, base, offset, stride of rows)
inline constexpr char kTileLoad[] = "slipway_tile_load";
// - multiply(sums, left, right): adds products of bf16.
inline constexpr char kTileMultiply[] = "slipway_tile_multiply";
// - store(register, base, offset, stride of rows)
inline constexpr char kTileStore[] = "slipway_tile_store";
// - release(): registers hold nothing any more, and cost the system nothing.
inline constexpr char kTileRelease[] = "slipway_tile_release";
// - prefetch(base, offset): a line on its way to the second level of data caches.
inline constexpr char kTilePrefetch[] = "slipway_tile_prefetch";

// A whole register: so many rows of so many bytes.
inline constexpr int kTileRows = 16;
inline constexpr int kTileRowBytes = 64;

// The registers: 4 of sums, 2 of each factor.
inline constexpr int kBlockTiles = 2;
constexpr int SumRegister(int row, int column) { return row * kBlockTiles + column; }
constexpr int LeftRegister(int row) { return kBlockTiles * kBlockTiles + row; }
constexpr int RightRegister(int column) { return LeftRegister(kBlockTiles) + column; }
inline constexpr int kTileRegisters = 8;

// Puts instructions in the place of the calls. LLVM's optimizations must be done.
void WriteTileInstructions(llvm::Module& module);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TILE_INSTRUCTIONS_H_
