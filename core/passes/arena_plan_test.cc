#include "core/passes/arena_plan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/clock.h"
#include "core/base/files.h"
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

TEST(PlanArena, TakesTheLowestGapThatFits) {
  // Gaps of 512 at 1024 and of 384 at 1984 are left when the last one comes.
  const ArenaPlan plan = Plan({{0, 9, 1024},   // 0
                               {0, 1, 512},    // 1024, gone at step 2
                               {0, 9, 448},    // 1536
                               {0, 1, 384},    // 1984, gone at step 2
                               {0, 9, 320},    // 2368
                               {2, 9, 300}});  // Fits both gaps.
  EXPECT_EQ(plan.offsets.back(), 1024);
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
    EXPECT_LE(plan.arena_bytes, plan.lower_bound_bytes * 11 / 10);
  }
}

// "FIRST LAST BYTES" a line: the pieces of a model's arena as PlanMemory had them.
std::vector<ArenaPiece> ReadLiveRanges(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path, 1 << 20);
  EXPECT_TRUE(text.ok()) << text.status();
  std::vector<ArenaPiece> pieces;
  for (const absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    ArenaPiece piece;
    EXPECT_TRUE(words.size() == 3 && absl::SimpleAtoi(words[0], &piece.first) &&
                absl::SimpleAtoi(words[1], &piece.last) && absl::SimpleAtoi(words[2], &piece.bytes))
        << path << ": " << line;
    pieces.push_back(piece);
  }
  return pieces;
}

TEST(PlanArena, TakesAtMostThreePercentMoreThanTheLowerBoundOnModels) {
  for (const char* model : {"convnext_tiny", "densenet121", "efficientnet_b0", "inception_v1",
                            "mobilenet_v3_int8", "segformer_b0"}) {
    const std::vector<ArenaPiece> pieces =
        ReadLiveRanges(absl::StrCat("core/passes/live_ranges/", model, ".txt"));
    ASSERT_GT(pieces.size(), 20u) << model;
    const ArenaPlan plan = Plan(pieces);
    EXPECT_LE(plan.arena_bytes, plan.lower_bound_bytes * 103 / 100) << model;
  }
}

TEST(PlanArena, IsQuickOnTwoThousandPieces) {
  std::mt19937 random(11);
  std::vector<ArenaPiece> pieces;
  for (int i = 0; i < 2000; ++i) {
    pieces.push_back(
        {i, i + 1 + static_cast<int>(random() % 400), static_cast<int64_t>(random() % 1'000'000)});
  }
  const SystemClock clock;
  const absl::Duration begin = clock.Monotonic();
  const ArenaPlan plan = Plan(pieces);
  EXPECT_LE(plan.arena_bytes, plan.lower_bound_bytes * 11 / 10);
  // Thirty times what it takes on an idle machine.
  EXPECT_LT(clock.Monotonic() - begin, absl::Seconds(1));
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
