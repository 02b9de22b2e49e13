#include "core/runtime/library_choice.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::testing::Optional;
using Ways = std::vector<std::optional<int64_t>>;

TEST(LibraryChoice, TheFastestWayThatIsRightCounts) {
  EXPECT_EQ(FastestOf(100, Ways{}), (StepTimes{100, std::nullopt, 0}));
  EXPECT_EQ(FastestOf(100, Ways{std::nullopt, std::nullopt}), (StepTimes{100, std::nullopt, 0}));
  EXPECT_EQ(FastestOf(100, Ways{90, 70, 80}), (StepTimes{100, 1, 70}));
  EXPECT_EQ(FastestOf(100, Ways{90, 70, 70}), (StepTimes{100, 1, 70}));
  EXPECT_EQ(FastestOf(100, Ways{std::nullopt, 300, 200}), (StepTimes{100, 2, 200}));
}

TEST(LibraryChoice, TheLibraryHasToBeFasterByMoreThanNoise) {
  const auto measured = [](int64_t own, int64_t library) {
    return IsForLibrary({own, 0, library}, LibraryUse::kMeasured);
  };
  EXPECT_TRUE(measured(3200, 3099));
  EXPECT_FALSE(measured(3200, 3100));
  EXPECT_FALSE(measured(3200, 3200));
  EXPECT_FALSE(measured(3200, 5000));
  EXPECT_TRUE(measured(3200, 1));
  EXPECT_FALSE(measured(0, 0));
  EXPECT_FALSE(IsForLibrary({3200, std::nullopt, 0}, LibraryUse::kMeasured));
}

TEST(LibraryChoice, AlwaysIsWhereverThereIsAWay) {
  EXPECT_TRUE(IsForLibrary({10, 0, 5000}, LibraryUse::kAlways));
  EXPECT_FALSE(IsForLibrary({10, std::nullopt, 0}, LibraryUse::kAlways));
  EXPECT_FALSE(IsForLibrary({5000, 0, 10}, LibraryUse::kNever));
}

TEST(LibraryChoice, UsesHaveNames) {
  EXPECT_EQ(FindLibraryUse("never"), LibraryUse::kNever);
  EXPECT_EQ(FindLibraryUse("measured"), LibraryUse::kMeasured);
  EXPECT_EQ(FindLibraryUse("always"), LibraryUse::kAlways);
  EXPECT_EQ(FindLibraryUse(""), std::nullopt);
}

class KeptStepTimesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("kept"));
    file_ = JoinPath(folder_.path(), "products");
  }
  void Write(const std::string& text) {
    ASSERT_OK(WriteFileAtomically(file_, text, /*durable=*/false));
  }

  TemporaryFolder folder_;
  std::string file_;
};

TEST_F(KeptStepTimesTest, WhatIsKeptIsFoundLater) {
  {
    KeptStepTimes kept(file_);
    EXPECT_EQ(kept.Find("a b"), std::nullopt);
    ASSERT_OK(kept.Keep("a b", {100, 2, 70}));
    ASSERT_OK(kept.Keep("c", {100, std::nullopt, 0}));
    EXPECT_THAT(kept.Find("a b"), Optional(StepTimes{100, 2, 70}));
  }
  KeptStepTimes kept(file_);
  EXPECT_THAT(kept.Find("a b"), Optional(StepTimes{100, 2, 70}));
  EXPECT_THAT(kept.Find("c"), Optional(StepTimes{100, std::nullopt, 0}));
  EXPECT_EQ(kept.Find("a"), std::nullopt);
  ASSERT_OK(kept.Keep("a b", {90, 0, 60}));
  EXPECT_THAT(KeptStepTimes(file_).Find("a b"), Optional(StepTimes{90, 0, 60}));
}

TEST_F(KeptStepTimesTest, WithoutAFileItRemembers) {
  KeptStepTimes kept("");
  ASSERT_OK(kept.Keep("a", {100, 2, 70}));
  ASSERT_OK(kept.Keep("b", {100, 1, 70}));
  EXPECT_THAT(kept.Find("a"), Optional(StepTimes{100, 2, 70}));
}

TEST_F(KeptStepTimesTest, WhatOthersAddMeanwhileStays) {
  KeptStepTimes one(file_);
  KeptStepTimes other(file_);
  ASSERT_OK(one.Keep("a", {1, 0, 1}));
  ASSERT_OK(other.Keep("b", {2, 0, 1}));
  KeptStepTimes kept(file_);
  EXPECT_TRUE(kept.Find("a").has_value());
  EXPECT_TRUE(kept.Find("b").has_value());
}

TEST_F(KeptStepTimesTest, WhatIsNoLineOfItsIsNotThere) {
  Write(
      "slipway library steps 1\n-1 0 5 a\n5 16 5 b\n5 -1 5 c\n5 x 5 d\n5 0\n\n99999999999999999999 "
      "0 1 "
      "e\n"
      "5 0 4 good one\n5 0 -4 f");
  const KeptStepTimes kept(file_);
  for (const char* key : {"a", "b", "c", "d", "e", "f", ""}) {
    EXPECT_EQ(kept.Find(key), std::nullopt) << key;
  }
  EXPECT_THAT(kept.Find("good one"), Optional(StepTimes{5, 0, 4}));
  Write("slipway products 2\n5 0 4 good one\n");
  EXPECT_EQ(KeptStepTimes(file_).Find("good one"), std::nullopt);
  Write(std::string(5 << 20, 'x'));
  EXPECT_EQ(KeptStepTimes(file_).Find("good one"), std::nullopt);
}

TEST_F(KeptStepTimesTest, TheOldestGo) {
  std::string text = "slipway library steps 1\n";
  for (size_t i = 0; i < KeptStepTimes::kMostKept; ++i) absl::StrAppend(&text, "5 0 4 k", i, "\n");
  Write(text);
  KeptStepTimes kept(file_);
  EXPECT_TRUE(kept.Find("k0").has_value());
  ASSERT_OK(kept.Keep("new", {5, 0, 4}));
  EXPECT_FALSE(kept.Find("k0").has_value());
  EXPECT_TRUE(kept.Find("k1").has_value());
  EXPECT_TRUE(KeptStepTimes(file_).Find("new").has_value());
}

TEST_F(KeptStepTimesTest, AFolderThatIsGoneIsAnError) {
  KeptStepTimes kept(JoinPath(folder_.path(), "none/products"));
  EXPECT_FALSE(kept.Keep("a", {5, 0, 4}).ok());
  EXPECT_TRUE(kept.Find("a").has_value());
}

}  // namespace
}  // namespace slipway
