#include "core/codegen/schedules/cpu/tiles.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(TilesTest, TilesFitTheRegistersAndDivideTheBlocks) {
  for (const int registers : {16, 32}) {
    for (int positions = 1; positions <= 130; ++positions) {
      for (int blocks = 1; blocks <= 130; ++blocks) {
        const AccumulatorTile tile = ChooseTile(positions, blocks, registers);
        ASSERT_GE(tile.width, 1);
        ASSERT_GE(tile.blocks, 1);
        ASSERT_LE(tile.width, positions);
        ASSERT_EQ(blocks % tile.blocks, 0) << blocks;
        ASSERT_LE(tile.width * tile.blocks + tile.blocks, registers);
      }
    }
  }
}

TEST(TilesTest, LargeLayersKeepTheUnitsBusy) {
  // Every layer of ResNet-50 has a tile with an accumulator for each multiply-add in flight.
  for (const int width : {7, 14, 28, 56, 112}) {
    for (const int blocks : {4, 8, 16, 32, 128}) {
      for (const int registers : {16, 32}) {
        const AccumulatorTile tile = ChooseTile(width, blocks, registers);
        EXPECT_GE(tile.width * tile.blocks, 10) << width << " " << blocks << " " << registers;
        EXPECT_LE(tile.width * tile.blocks, 16) << width << " " << blocks << " " << registers;
      }
    }
  }
  EXPECT_GE(ChooseTile(56, 1, 32).width, 10);
}

TEST(TilesTest, PiecesDivideAndSuffice) {
  EXPECT_EQ(PiecesFor(16, 56, 16), 1);
  EXPECT_EQ(PiecesFor(1, 56, 16), 28);
  EXPECT_EQ(PiecesFor(4, 7, 16), 7);
  EXPECT_EQ(PiecesFor(1, 1, 16), 1);
  EXPECT_EQ(LargestDivisor(12, 5), 4);
  EXPECT_EQ(LargestDivisor(7, 5), 1);
}

}  // namespace
}  // namespace slipway
