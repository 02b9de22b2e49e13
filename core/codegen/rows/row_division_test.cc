#include "core/codegen/rows/row_division.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway {
namespace {

using ::testing::Contains;

bool operator==(const RowDivision& division, std::pair<int, int> numbers) {
  return division.warps == numbers.first && division.parts == numbers.second;
}

TEST(RowDivision, EveryRowHasRoom) {
  for (int64_t size = 1; size <= kMostRowSize; size = size < 40000 ? size + 1 : size * 5 / 4) {
    for (const int64_t rows : {1, 1 << 16}) {
      const RowDivision chosen = ChooseRowDivision(kA100, rows, size);
      ASSERT_THAT(RowDivisions(size), Contains(chosen));
      const int64_t of_part = RowPartSize(size, chosen.parts);
      ASSERT_LE(of_part, chosen.warps * 32 * kMostOfInstance) << size;
      // The last one has something.
      ASSERT_GT(size, of_part * (chosen.parts - 1)) << size;
      ASSERT_LE(size, of_part * chosen.parts) << size;
    }
  }
  EXPECT_TRUE(ChooseRowDivision(kA100, 1, kMostRowSize) == std::make_pair(16, kMostRowParts));
}

TEST(RowDivision, FewRowsAreForMoreWarps) {
  EXPECT_TRUE(ChooseRowDivision(kA100, 1 << 16, 768) == std::make_pair(1, 1));
  EXPECT_TRUE(ChooseRowDivision(kA100, 128, 768) == std::make_pair(4, 1));
  EXPECT_TRUE(ChooseRowDivision(kA100, 128, 64) == std::make_pair(1, 1));
  EXPECT_TRUE(ChooseRowDivision(kA100, 1 << 16, 2048) == std::make_pair(4, 1));
  EXPECT_TRUE(ChooseRowDivision(kA100, 8, 2048) == std::make_pair(16, 1));
}

TEST(RowDivision, RowsThatNoGroupHoldsAreForSeveral) {
  EXPECT_TRUE(ChooseRowDivision(kA100, 1 << 16, 16384) == std::make_pair(16, 1));
  EXPECT_TRUE(ChooseRowDivision(kA100, 1 << 16, 16385) == std::make_pair(8, 3));
  // 32 groups of 320 channels of 64 x 64.
  EXPECT_TRUE(ChooseRowDivision(kA100, 32, 40960) == std::make_pair(8, 5));
}

// Four lanes of a warp have a row, and eight rows are a group's.
TEST(RowDivision, TurnedRowsAreForAllWarps) {
  for (int64_t size = 1; size <= MostRowSize(RowLayout::kTurned); ++size) {
    for (const int64_t rows : {1, 1 << 16}) {
      const RowDivision chosen = ChooseRowDivision(kA100, rows, size, RowLayout::kTurned);
      ASSERT_THAT(RowDivisions(size, RowLayout::kTurned), Contains(chosen));
      ASSERT_EQ(chosen.parts, 1);
      ASSERT_LE(size, chosen.warps * 4 * kMostOfInstance) << size;
    }
  }
  EXPECT_TRUE(ChooseRowDivision(kA100, 49, 768, RowLayout::kTurned) == std::make_pair(16, 1));
  EXPECT_TRUE(ChooseRowDivision(kA100, 1 << 16, 96, RowLayout::kTurned) == std::make_pair(4, 1));
}

}  // namespace
}  // namespace slipway
