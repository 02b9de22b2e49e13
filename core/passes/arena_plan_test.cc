#include "core/passes/arena_plan.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;

ArenaPlan Plan(const std::vector<ArenaPiece>& pieces) {
  absl::StatusOr<ArenaPlan> plan = PlanArena(pieces, 64);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

TEST(PlanArena, EmptyNeedsNothing) {
  const ArenaPlan plan = Plan({});
  EXPECT_EQ(plan.arena_bytes, 0);
  EXPECT_EQ(plan.lower_bound_bytes, 0);
}

TEST(PlanArena, ReusesMemoryOfWhatIsDead) {
  const ArenaPlan plan = Plan({{0, 1, 100}, {1, 2, 100}, {2, 3, 100}, {3, 4, 100}});
  EXPECT_EQ(plan.arena_bytes, 256);
  EXPECT_EQ(plan.lower_bound_bytes, 256);
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{0, 128, 0, 128}));
}

TEST(PlanArena, TakesTheSmallestGapThatFits) {
  // Gaps of 192 at 64 and of 128 at 320 are left when the last one comes.
  const ArenaPlan plan = Plan({{0, 9, 1024},   // 0
                               {0, 1, 512},    // 1024, gone at step 2
                               {0, 9, 448},    // 1536
                               {0, 1, 384},    // 1984, gone at step 2
                               {0, 9, 320},    // 2368
                               {2, 9, 300}});  // Fits both gaps; the smaller is at 1984.
  EXPECT_EQ(plan.offsets.back(), 1984);
}

TEST(PlanArena, EmptyPiecesTakeNoRoom) {
  const ArenaPlan plan = Plan({{0, 3, 0}, {0, 3, 64}});
  EXPECT_EQ(plan.arena_bytes, 64);
}

TEST(PlanArena, RefusesNonsense) {
  EXPECT_THAT(PlanArena({{2, 1, 4}}, 64), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(PlanArena({{0, 1, -4}}, 64), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(PlanArena({{0, 1, INT64_MAX}}, 64), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(PlanArena({{0, 1, int64_t{1} << 61}, {0, 1, int64_t{1} << 61}, {0, 1, 1}}, 64),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(PlanArena, NeverOverlapsAndStaysNearTheLowerBound) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<ArenaPiece> pieces;
    const int count = 1 + random() % 40;
    for (int i = 0; i < count; ++i) {
      const int first = random() % 50;
      pieces.push_back(
          {first, first + static_cast<int>(random() % 6), static_cast<int64_t>(random() % 5000)});
    }
    const ArenaPlan plan = Plan(pieces);
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(plan.offsets[i] % 64, 0);
      EXPECT_LE(plan.offsets[i] + pieces[i].bytes, plan.arena_bytes);
      for (int j = 0; j < i; ++j) {
        const bool together =
            pieces[i].first <= pieces[j].last && pieces[j].first <= pieces[i].last;
        const bool apart = plan.offsets[i] + pieces[i].bytes <= plan.offsets[j] ||
                           plan.offsets[j] + pieces[j].bytes <= plan.offsets[i];
        EXPECT_TRUE(!together || apart) << "round " << round << ": " << i << " and " << j;
      }
    }
    EXPECT_GE(plan.arena_bytes, plan.lower_bound_bytes);
    EXPECT_LE(plan.arena_bytes, plan.lower_bound_bytes * 3 / 2);
  }
}

TEST(DumpArena, DrawsTheMap) {
  const std::vector<ArenaPiece> pieces = {{0, 1, 100}, {1, 2, 64}, {2, 2, 128}};
  EXPECT_EQ(DumpArena(pieces, Plan(pieces)),
            "arena 192 bytes, lower bound 192\n"
            "[       0,      100) 0..1 |##.|\n"
            "[       0,      128) 2..2 |..#|\n"
            "[     128,      192) 1..2 |.##|\n");
}

}  // namespace
}  // namespace slipway
