#include "core/codegen/tensor_cores/tensor_tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace slipway {
namespace {

int64_t Parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

TEST(TensorTile, EveryTileCanBeMoved) {
  for (const TensorTile& tile : TensorTiles()) {
    EXPECT_EQ(tile.warp_rows() % 16, 0);
    EXPECT_EQ(tile.warp_columns() % 16, 0);
    EXPECT_EQ(tile.rows % tile.warps_of_rows, 0);
    EXPECT_EQ(tile.columns % tile.warps_of_columns, 0);
    EXPECT_LE(tile.depth_bytes, kMostDepthBytes);
    if (tile.is_of_warp_groups) {
      EXPECT_EQ(tile.warp_rows(), 16);
      EXPECT_EQ(tile.warps_of_columns, 1);
      EXPECT_EQ(tile.warps() % 4, 0);
      EXPECT_EQ(tile.depth_bytes, 128);  // A pattern's rows.
      EXPECT_LE(tile.columns, 256);
    }
    for (const int across : {tile.rows, tile.columns}) {
      for (const int bytes : {2, 4}) {
        const int depth = tile.depth_bytes / bytes;
        // Rows along the depth in vectors of 4 of f32, each instance's a multiple of 8 rows apart, for the order of their pieces.
        const int apart = tile.instances() / (depth / 4);
        EXPECT_EQ(apart % 8, 0);
        EXPECT_EQ(across % apart, 0);
        // The same across it, where warp groups multiply 128 bytes of narrow numbers a row.
        const int in_row = tile.is_of_warp_groups ? std::min(across, 64) : across;
        EXPECT_EQ(tile.instances() % (in_row / 4), 0);
        EXPECT_EQ(in_row * depth / 4 % tile.instances(), 0);
        // One place, and 16 bytes of the depth or a multiple of that.
        EXPECT_EQ(tile.instances() % across, 0);
        EXPECT_EQ(depth * across / tile.instances() * bytes % 16, 0);
      }
      // What is copied, in pieces of 16 bytes.
      const int apart = tile.instances() / (tile.depth_bytes / 16);
      EXPECT_EQ(apart % 8, 0);
      EXPECT_EQ(across % apart, 0);
    }
    // What no launch has to ask for: three steps of one factor, two of the other; or what there is, with a step more.
    const int more = tile.steps_at_once() - 1;
    const int most = std::max((3 + more) * tile.rows + (2 + more) * tile.columns,
                              (2 + more) * tile.rows + (3 + more) * tile.columns);
    EXPECT_LE(most * tile.depth_bytes + 2 * kMostDepthBytes * 16,
              (tile.is_of_warp_groups ? 227 : 48) << 10);
  }
}

TEST(TensorTile, LargeProductsHaveLargeTiles) {
  const ProductDivision large = ChooseDivision(kA100, 1, 4096, 4096, 4096, 2);
  EXPECT_EQ(large.tile.rows, 128);
  EXPECT_EQ(large.tile.columns, 128);
  EXPECT_EQ(large.parts, 1);
  const ProductDivision batched = ChooseDivision(kA100, 384, 128, 128, 64, 2);
  EXPECT_GE(batched.tile.rows * batched.tile.columns, 64 * 128);
  EXPECT_EQ(batched.parts, 1);
}

TEST(TensorTile, SmallOnesKeepMultiprocessorsBusy) {
  // Layers of BERT and of ResNet-50 at one image, and its last one.
  for (const TensorGpu& gpu : {kA100, kH100}) {
    for (const auto& [m, n, k] : {std::tuple{128, 768, 768}, {512, 49, 4608}, {1, 1000, 2048}}) {
      for (const int bytes : {2, 4}) {
        const ProductDivision layer = ChooseDivision(gpu, 1, m, n, k, bytes);
        EXPECT_GE(Parts(m, layer.tile.rows) * Parts(n, layer.tile.columns) * layer.parts,
                  gpu.multiprocessors / 3);
      }
    }
    EXPECT_GT(ChooseDivision(gpu, 1, 512, 49, 4608, 2).parts, 1);
  }
  EXPECT_EQ(ChooseDivision(kA100, 1, 4096, 10, 512, 4).tile.columns, 16);
}

TEST(TensorTile, WarpGroupsMultiplyWhereThereAreSuch) {
  const ProductDivision large = ChooseDivision(kH100, 1, 4096, 4096, 4096, 2);
  EXPECT_TRUE(large.tile.is_of_warp_groups);
  EXPECT_EQ(large.tile.rows, 128);
  EXPECT_EQ(large.tile.columns, 256);
  EXPECT_FALSE(ChooseDivision(kA100, 1, 4096, 4096, 4096, 2).tile.is_of_warp_groups);
}

TEST(ProductDivision, GivesEachPartAStep) {
  const TensorTile tile = TensorTiles()[0];  // 32 places of the depth a step, of f16.
  EXPECT_TRUE(CanDivide({tile, 1}, 100, 1, 2));
  EXPECT_TRUE(CanDivide({tile, 4}, 100, 128, 2));
  EXPECT_FALSE(CanDivide({tile, 5}, 100, 128, 2));
  EXPECT_FALSE(CanDivide({tile, 3}, 100, 128, 2));  // Two each would be behind the second part.
  EXPECT_FALSE(CanDivide({tile, 0}, 100, 128, 2));
  EXPECT_FALSE(CanDivide({tile, kMostParts + 1}, 100, 1 << 20, 2));
  EXPECT_FALSE(CanDivide({tile, 2}, 1 << 24, 128, 2));
}

}  // namespace
}  // namespace slipway
