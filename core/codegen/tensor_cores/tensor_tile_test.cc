#include "core/codegen/tensor_cores/tensor_tile.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

int64_t Parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

TEST(TensorTile, EveryTileCanBeMoved) {
  for (const TensorTile& tile : TensorTiles()) {
    EXPECT_EQ(tile.warp_rows() % 16, 0);
    EXPECT_EQ(tile.warp_columns() % 16, 0);
    EXPECT_EQ(tile.rows % tile.warps_of_rows, 0);
    EXPECT_EQ(tile.columns % tile.warps_of_columns, 0);
    // Either matrix, from either side, in vectors of 4, as many for each instance.
    for (const int across : {tile.rows, tile.columns}) {
      EXPECT_EQ(tile.instances() % (across / 4), 0);
      EXPECT_EQ(tile.instances() % (kTensorTileDepth / 4), 0);
      EXPECT_EQ(across * kTensorTileDepth / 4 % tile.instances(), 0);
    }
    // Two halves of what no launch has to ask for, padded by 16 bytes a row at most.
    EXPECT_LE(2 * (tile.rows + tile.columns) * (2 * kTensorTileDepth + 16), 48 << 10);
  }
}

TEST(TensorTile, LargeProductsHaveLargeTiles) {
  const TensorTile large = ChooseTensorTile(1, 4096, 4096, 4096);
  EXPECT_EQ(large.rows, 128);
  EXPECT_EQ(large.columns, 128);
  const TensorTile batched = ChooseTensorTile(384, 128, 128, 64);
  EXPECT_GE(batched.rows * batched.columns, 64 * 128);
}

TEST(TensorTile, SmallOnesKeepMultiprocessorsBusy) {
  const TensorTile layer = ChooseTensorTile(1, 128, 768, 768);
  EXPECT_GE(Parts(128, layer.rows) * Parts(768, layer.columns), kMultiprocessors / 3);
  EXPECT_LE(ChooseTensorTile(1, 1, 1000, 2048).columns, 32);
  EXPECT_EQ(ChooseTensorTile(1, 4096, 10, 512).columns, 16);
}

}  // namespace
}  // namespace slipway
