#include "core/codegen/rows/normalized_rows.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(NormalizedRows, EveryRowHasRoom) {
  for (int64_t size = 1; size <= kMostRowSize; ++size) {
    for (const int64_t rows : {1, 1 << 16}) {
      EXPECT_TRUE(CanShareRow(ChooseWarpsOfRow(kA100, rows, size), size));
    }
  }
  EXPECT_FALSE(CanShareRow(1, 1025));
  EXPECT_FALSE(CanShareRow(2, 1));
}

TEST(NormalizedRows, FewRowsAreForMoreWarps) {
  EXPECT_EQ(ChooseWarpsOfRow(kA100, 1 << 16, 768), 1);
  EXPECT_EQ(ChooseWarpsOfRow(kA100, 128, 768), 4);
  EXPECT_EQ(ChooseWarpsOfRow(kA100, 128, 64), 1);
  EXPECT_EQ(ChooseWarpsOfRow(kA100, 1 << 16, 2048), 4);
}

}  // namespace
}  // namespace slipway
