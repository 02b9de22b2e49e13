#include "core/codegen/tensor_cores/attention_tile.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(AttentionTile, EveryTileCanBeMovedAndMultiplied) {
  for (const AttentionTile& tile : AttentionTiles()) {
    EXPECT_EQ(tile.queries % tile.warps, 0);
    EXPECT_TRUE(tile.warp_queries() == 16 || tile.warp_queries() == 32);
    EXPECT_EQ(tile.keys % 16, 0);
    // Rows of keys in vectors of 4, at least 4 of them to a row.
    EXPECT_EQ(tile.keys % (tile.instances() / 4), 0);
    // Values of 4 bytes: 16 items at a time, 4 keys to an instance, and what alternates with the keys' parity is known.
    EXPECT_EQ(tile.instances() / 16 % 2, 0);
    EXPECT_EQ(tile.keys / 4 % (tile.instances() / 16), 0);
  }
}

TEST(AttentionTile, EveryHeadHasOne) {
  for (const int bytes : {2, 4}) {
    for (int64_t size = 16; size <= 128; size += 16) {
      for (int64_t value_size = 16; value_size <= 128; value_size += 16) {
        for (const int64_t queries : {1, 1 << 20}) {
          const AttentionTile tile =
              ChooseAttentionTile(kA100, 1, queries, size, value_size, bytes);
          EXPECT_TRUE(CanAttend(tile, size, value_size, bytes));
        }
      }
    }
  }
}

TEST(AttentionTile, LargeOnesWhereThereIsEnoughToDo) {
  EXPECT_EQ(ChooseAttentionTile(kA100, 384, 512, 64, 64, 2), (AttentionTile{128, 32, 4}));
  EXPECT_EQ(ChooseAttentionTile(kA100, 384, 512, 128, 128, 2).queries, 64);
  EXPECT_EQ(ChooseAttentionTile(kA100, 384, 512, 64, 64, 4).queries, 64);
  // Heads of BERT at one batch, and a query for each.
  EXPECT_EQ(ChooseAttentionTile(kA100, 12, 128, 64, 64, 2).queries, 32);
  EXPECT_EQ(ChooseAttentionTile(kA100, 12, 1, 64, 64, 2).queries, 32);
  EXPECT_EQ(ChooseAttentionTile(kA100, 1000, 20, 64, 64, 2).queries, 32);
}

}  // namespace
}  // namespace slipway
