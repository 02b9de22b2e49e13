#include "core/backends/cpu/winograd_choice.h"

#include <gtest/gtest.h>

#include "core/target/target.h"

namespace slipway {
namespace {

ConvView Layer(int64_t channels, int64_t size, int64_t batch = 1) {
  ConvView conv;
  conv.batch = batch;
  conv.in_channels = conv.out_channels = channels;
  conv.window.output = {size, size};
  return conv;
}

MachineDescription Machine() { return DescribeMachine(ParseTarget("x86-64-v3-linux")->host()); }

TEST(WinogradChoice, LargerTilesForLargerImages) {
  const MachineDescription machine = Machine();
  EXPECT_EQ(ChooseWinogradTile(machine, Layer(64, 224)), 4);
  EXPECT_EQ(ChooseWinogradTile(machine, Layer(512, 7)), 2);
}

// One tile that is mostly empty; many weights for few places: they come from memory, and the transformed ones are more.
TEST(WinogradChoice, DirectlyWhereTilesSaveNothing) {
  const MachineDescription machine = Machine();
  EXPECT_EQ(ChooseWinogradTile(machine, Layer(64, 1)), 0);
  EXPECT_EQ(ChooseWinogradTile(machine, Layer(2048, 4)), 0);
  EXPECT_NE(ChooseWinogradTile(machine, Layer(2048, 4, /*batch=*/32)), 0);
}

// Some microseconds are not worth weights that are twice as many, or four times.
TEST(WinogradChoice, DirectlyWhereAllIsSmall) {
  for (const char* target : {"x86-64-v3-linux", "arm-64-linux", "wasm-32-wasi-simd128"}) {
    const MachineDescription machine = DescribeMachine(ParseTarget(target)->host());
    EXPECT_EQ(ChooseWinogradTile(machine, Layer(24, 4)), 0) << target;
    EXPECT_NE(ChooseWinogradTile(machine, Layer(64, 14)), 0) << target;
  }
}

// What bf16 has twice as fast, tiles of f32 must have fewer than half of the products of.
TEST(WinogradChoice, LargeTilesAloneAreFasterThanSmallNumbers) {
  const MachineDescription machine = Machine();
  EXPECT_EQ(ChooseWinogradTile(machine, Layer(512, 7), DataType::kBfloat16), 0);
  EXPECT_NE(ChooseWinogradTile(machine, Layer(256, 56), DataType::kBfloat16), 0);
}

TEST(WinogradChoice, NoTilesAreFasterThanTileRegisters) {
  const MachineDescription machine =
      DescribeMachine(ParseTarget("x86-64-v4-linux-amxbf16")->host());
  for (const ConvView& conv : {Layer(64, 56), Layer(256, 28)}) {
    EXPECT_EQ(ChooseWinogradTile(machine, conv, DataType::kBfloat16), 0);
    EXPECT_NE(ChooseWinogradTile(machine, conv, DataType::kFloat32), 0);
  }
}

TEST(WinogradChoice, CyclesGrowWithTheBatch) {
  const MachineDescription machine = Machine();
  for (const int64_t m : {2, 4, 6}) {
    const double one = TiledCycles(machine, Layer(128, 28), m);
    EXPECT_GT(one, 0);
    EXPECT_GT(TiledCycles(machine, Layer(128, 28, 8), m), 6 * one) << m;
  }
  const double direct = DirectCycles(machine, Layer(128, 28), DataType::kFloat32);
  EXPECT_GT(direct, 0);
  EXPECT_GT(DirectCycles(machine, Layer(128, 28, 8), DataType::kFloat32), 6 * direct);
}

}  // namespace
}  // namespace slipway
