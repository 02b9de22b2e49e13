#include "core/codegen/tile_shapes.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(TileShapesTest, RegistersTakeTheMostStepsThatDivide) {
  EXPECT_EQ(StepsOfTile(384), 16);
  EXPECT_EQ(StepsOfTile(16), 16);
  EXPECT_EQ(StepsOfTile(24), 12);
  EXPECT_EQ(StepsOfTile(150), 15);
  EXPECT_EQ(StepsOfTile(8), 8);
  EXPECT_EQ(StepsOfTile(17), 1);
  EXPECT_EQ(StepsOfTile(1), 1);
}

TEST(TileShapesTest, WorthItAreWholeRowsOfEnoughSteps) {
  EXPECT_TRUE(FillsTiles(16, 16));
  EXPECT_TRUE(FillsTiles(64, 6));
  EXPECT_FALSE(FillsTiles(64, 5));
  EXPECT_FALSE(FillsTiles(8, 16));
  EXPECT_FALSE(FillsTiles(24, 16));
  EXPECT_FALSE(FillsTiles(0, 16));
  EXPECT_FALSE(FillsTiles(16, 0));
  EXPECT_FALSE(FillsTiles(16, 17));
}

TEST(TileShapesTest, RowsAreEvenWhereTheyDivideAndElseWhole) {
  for (int rows = 1; rows <= 200; ++rows) {
    const TileRows tiles = TileRowsOf(rows);
    EXPECT_EQ(tiles.whole * tiles.rows + tiles.rest, rows);
    EXPECT_GE(tiles.whole, 1);
    EXPECT_LE(tiles.rows, kTileRows);
    EXPECT_TRUE(tiles.rest == 0 || (tiles.rows == kTileRows && tiles.rest < kTileRows)) << rows;
  }
  EXPECT_EQ(TileRowsOf(26).rows, 13);
  EXPECT_EQ(TileRowsOf(7).rows, 7);
  EXPECT_EQ(TileRowsOf(33).rows, 11);
  EXPECT_EQ(TileRowsOf(17).rest, 1);
}

}  // namespace
}  // namespace slipway
