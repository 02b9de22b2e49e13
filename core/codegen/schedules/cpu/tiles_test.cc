#include "core/codegen/schedules/cpu/tiles.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway {
namespace {

MachineDescription MachineOf(int vector_registers) {
  MachineDescription machine;
  machine.vector_registers = vector_registers;
  machine.vector_bytes = vector_registers == 32 ? 64 : 32;
  machine.l1_bytes = 32 << 10;
  machine.l2_bytes = 256 << 10;
  return machine;
}

TEST(TilesTest, TilesFitTheRegistersAndDivideTheBlocks) {
  for (const int registers : {16, 32}) {
    for (int positions = 1; positions <= 130; ++positions) {
      for (int blocks = 1; blocks <= 130; ++blocks) {
        const AccumulatorTile tile = ChooseTile(MachineOf(registers), positions, blocks);
        ASSERT_GE(tile.width, 1);
        ASSERT_GE(tile.blocks, 1);
        ASSERT_LE(tile.width, positions);
        ASSERT_EQ(blocks % tile.blocks, 0) << blocks;
        ASSERT_LT(tile.width * tile.blocks + std::min(tile.width, tile.blocks), registers);
      }
    }
  }
}

TEST(TilesTest, PositionsFillTileRegistersAsFarAsRowsAllow) {
  for (int width = 1; width <= 120; ++width) {
    for (const int block : {16, 32, 64}) {
      const PositionTile tile = ChoosePositionTile(width, 7, block);
      ASSERT_GE(tile.width, 1);
      ASSERT_LE(tile.width, std::min(width, 32));
      ASSERT_LE(tile.height, 2);
      if (width % 32 == 0) EXPECT_EQ(tile.width, 32) << width;
    }
  }
  // Two registers below each other, of as many rows each.
  EXPECT_EQ(ChoosePositionTile(56, 56, 32).width, 28);
  EXPECT_EQ(ChoosePositionTile(49, 1, 32).width, 26);
  EXPECT_EQ(ChoosePositionTile(14, 14, 32).width, 14);
  EXPECT_EQ(ChoosePositionTile(14, 14, 32).height, 2);
}

TEST(TilesTest, BlocksOfSeveralVectorsHoldAsManyRegisters) {
  for (const int vectors : {2, 4}) {
    for (int positions = 1; positions <= 60; ++positions) {
      const AccumulatorTile tile =
          ChooseTile(MachineOf(32), positions, 8, {.block_vectors = vectors});
      ASSERT_LE(tile.width * tile.blocks * vectors, 16) << positions;
      ASSERT_GE(tile.width, 1);
    }
  }
}

TEST(TilesTest, LargeLayersKeepTheUnitsBusy) {
  // Every layer of ResNet-50 has a tile with an accumulator for each multiply-add in flight.
  for (const int width : {7, 14, 28, 56, 112}) {
    for (const int blocks : {4, 8, 16, 32, 128}) {
      for (const int registers : {16, 32}) {
        const AccumulatorTile tile = ChooseTile(MachineOf(registers), width, blocks);
        EXPECT_GE(tile.width * tile.blocks, 8) << width << " " << blocks << " " << registers;
        EXPECT_LE(tile.width * tile.blocks, 16) << width << " " << blocks << " " << registers;
      }
    }
  }
  EXPECT_GE(ChooseTile(MachineOf(32), 56, 1).width, 10);
}

TEST(TilesTest, BlocksWhoseInputsAreReadOnceTakeMostRegisters) {
  const TileOperands near = {.block_weight_bytes = 16 << 10};
  const AccumulatorTile tile = ChooseTile(MachineOf(32), 14, 8, near);
  EXPECT_EQ(tile.width * tile.blocks, 28);
  // Not where LLVM would hold inputs, for a sum that is short, or where no cache of the core holds the weights.
  for (const TileOperands& operands :
       {TileOperands{.block_weight_bytes = 27 * 64}, TileOperands{.block_weight_bytes = 1 << 20},
        TileOperands{.block_weight_bytes = 16 << 10, .adds_apart = true}}) {
    const AccumulatorTile small = ChooseTile(MachineOf(32), 14, 8, operands);
    EXPECT_LE(small.width * small.blocks, 16);
  }
}

TEST(TilesTest, WhatIsFarIsReadLess) {
  const MachineDescription machine = MachineOf(16);
  // 256 channels of 56 x 56, and 8 KiB of weights a block: no cache holds the image, the first the weights of four.
  const AccumulatorTile wide = ChooseTile(machine, 112, 8, {256 * 56 * 56 * 4, 256 * 8 * 4, false});
  EXPECT_EQ(wide.width, 3);
  EXPECT_EQ(wide.blocks, 4);
  // 512 channels of 7 x 7: the image is near, and weights of two blocks are.
  const AccumulatorTile deep = ChooseTile(machine, 49, 256, {512 * 7 * 7 * 4, 512 * 8 * 4, false});
  EXPECT_EQ(deep.width, 5);
  EXPECT_EQ(deep.blocks, 2);
}

TEST(TilesTest, HeldInputsHaveRegisters) {
  for (int positions = 1; positions <= 130; ++positions) {
    for (int blocks = 1; blocks <= 130; ++blocks) {
      const AccumulatorTile tile =
          ChooseTile(MachineOf(32), positions, blocks, {.holds_inputs = true});
      ASSERT_LT(tile.width * tile.blocks + tile.width + tile.blocks, 32);
    }
  }
  // Loads take places from multiply-adds: few of them, whatever is far.
  for (const int width : {7, 14, 28, 56}) {
    for (const int64_t input_bytes : {16 << 10, 4 << 20}) {
      const AccumulatorTile tile =
          ChooseTile(MachineOf(32), width, 64, {input_bytes, 8 << 10, false, true});
      const int loads = tile.width + 4 * tile.blocks;  // Of four steps.
      EXPECT_LE(loads, 2 * tile.width * tile.blocks) << width << " " << input_bytes;
    }
  }
}

TEST(TilesTest, PairsLeaveRegistersForWhatIsAdded) {
  for (const int registers : {16, 32}) {
    for (int positions = 1; positions <= 130; ++positions) {
      for (int blocks = 1; blocks <= 130; ++blocks) {
        const AccumulatorTile tile =
            ChooseTile(MachineOf(registers), positions, blocks, {.adds_apart = true});
        ASSERT_LE(tile.width * tile.blocks + tile.blocks + 2, registers);
      }
    }
  }
  // Fewer accumulators are enough where larger tiles would compute positions twice.
  const AccumulatorTile tile = ChooseTile(MachineOf(16), 7, 64, {.adds_apart = true});
  EXPECT_EQ(tile.width, 4);
  EXPECT_EQ(tile.blocks, 2);
}

TEST(TilesTest, ProductsFitTheRegisters) {
  for (const int registers : {16, 32}) {
    for (const int vectors : {1, 2, 4}) {
      for (int rows = 1; rows <= 70; ++rows) {
        for (int panels = 1; panels <= 70; ++panels) {
          const ProductTile tile = ChooseProductTile(rows, panels, vectors, registers);
          ASSERT_GE(tile.rows, 1);
          ASSERT_GE(tile.panels, 1);
          ASSERT_LE(tile.rows, rows);
          ASSERT_LE(tile.panels, panels);
          ASSERT_LE((tile.rows + 1) * tile.panels * vectors + 1, registers)
              << rows << " rows, " << panels << " panels of " << vectors;
        }
      }
    }
  }
  // A panel that is wider than all registers.
  EXPECT_EQ(ChooseProductTile(100, 100, 40, 16).rows, 1);
  EXPECT_EQ(ChooseProductTile(100, 100, 40, 16).panels, 1);
}

TEST(TilesTest, ProductsKeepTheUnitsBusy) {
  // What a product of any rows by many panels of two vectors takes at least is a step of two multiply-adds; tiles come near
  // from 4 rows on, but for rows that none of them divides.
  for (const int registers : {16, 32}) {
    for (int rows = 4; rows <= 400; ++rows) {
      const ProductTile tile = ChooseProductTile(rows, 48, 2, registers);
      EXPECT_GE(tile.rows * tile.panels * 2, 8) << rows;
      const int computed = (rows + tile.rows - 1) / tile.rows * tile.rows;
      EXPECT_LE(computed, rows + rows / 20 + 2) << rows << " in tiles of " << tile.rows;
    }
  }
  // One row waits for memory: some panels at once.
  EXPECT_GE(ChooseProductTile(1, 48, 2, 16).panels, 2);
  EXPECT_GE(ChooseProductTile(2, 48, 2, 16).panels, 2);
}

TEST(TilesTest, PiecesDivideAndSuffice) {
  EXPECT_EQ(PiecesFor(16, 56, 16), 1);
  EXPECT_EQ(PiecesFor(1, 56, 16), 28);
  EXPECT_EQ(PiecesFor(4, 7, 16), 7);
  EXPECT_EQ(PiecesFor(1, 1, 16), 1);
  EXPECT_EQ(LargestDivisor(12, 5), 4);
  EXPECT_EQ(LargestDivisor(7, 5), 1);
}

// As few tiles as that takes, of which none overlaps where another width divides the row.
TEST(ChooseRowTileTest, DividesRows) {
  EXPECT_EQ(ChooseRowTile(28, 10), 7);
  EXPECT_EQ(ChooseRowTile(20, 10), 10);
  EXPECT_EQ(ChooseRowTile(56, 10), 8);
  EXPECT_EQ(ChooseRowTile(112, 10), 8);
  EXPECT_EQ(ChooseRowTile(7, 10), 7);
  EXPECT_EQ(ChooseRowTile(13, 8), 7);
  EXPECT_EQ(ChooseRowTile(1, 1), 1);
}

}  // namespace
}  // namespace slipway
