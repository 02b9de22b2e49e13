#include "client/gated_results.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Tag kMain = {"baseline", "main"};

HistoryEntry Entry(int hour, const std::string& artifact, std::vector<Tag> tags = {}) {
  HistoryEntry entry;
  entry.id = absl::StrCat("01J", hour);
  entry.model = "net.onnx";
  entry.target = "x86-64-v3-linux";
  entry.device.id = "board";
  entry.artifact = Digest::Of(artifact);
  entry.tags = std::move(tags);
  entry.conditions = "0123456789abcdef";
  entry.result.threads = 1;
  entry.summary.p50_ns = 1000 + hour;
  entry.create_time = absl::FromUnixSeconds(1767225600) + absl::Hours(hour);
  entry.end_time = entry.create_time + absl::Seconds(5);
  return entry;
}

std::vector<std::string> Ids(const HistorySeries& series) {
  std::vector<std::string> ids;
  for (const HistoryEntry& entry : series.entries) ids.push_back(entry.id);
  return ids;
}

TEST(ChooseResultsTest, TheNewestProgramThatIsNotTheBaselinesIsTheCandidate) {
  ASSERT_OK_AND_ASSIGN(
      const GatedResults results,
      ChooseResults({Entry(1, "old", {kMain}), Entry(2, "mine"), Entry(3, "new", {kMain}),
                     Entry(4, "yours"), Entry(5, "yours"),
                     Entry(6, "new", {{"baseline", "v1"}, kMain}), Entry(0, "yours", {kMain})},
                    kMain, std::nullopt));
  EXPECT_THAT(Ids(results.baseline), ElementsAre("01J0", "01J1", "01J3", "01J6"));
  EXPECT_THAT(Ids(results.candidate), ElementsAre("01J4", "01J5"));
  EXPECT_EQ(results.baseline_artifact(), Digest::Of("new"));
  EXPECT_EQ(results.candidate_artifact(), Digest::Of("yours"));
  EXPECT_EQ(results.candidate.device, "board");
}

TEST(ChooseResultsTest, OrWhatHasItsTag) {
  const Tag commit = {"commit", "1f0c9ad"};
  ASSERT_OK_AND_ASSIGN(const GatedResults results,
                       ChooseResults({Entry(1, "a", {kMain}), Entry(2, "b", {commit}),
                                      Entry(3, "c"), Entry(4, "b", {commit, kMain})},
                                     kMain, commit));
  // It may be part of the baseline, too.
  EXPECT_THAT(Ids(results.candidate), ElementsAre("01J2", "01J4"));
  EXPECT_THAT(Ids(results.baseline), ElementsAre("01J1", "01J4"));
}

TEST(ChooseResultsTest, OnlyWhatWasMeasuredInTheSameWayIsComparable) {
  std::vector<HistoryEntry> entries = {Entry(1, "a", {kMain}), Entry(9, "b")};
  for (int i = 2; i < 7; ++i) {
    entries.push_back(Entry(i, "a", {kMain}));
    entries.push_back(Entry(10 + i, "b"));
    // Another device and so on; its newest is older than the one that counts.
    HistoryEntry& base = entries[entries.size() - 2];
    HistoryEntry& other = entries.back();
    for (HistoryEntry* entry : {&base, &other}) {
      if (i == 2) entry->device.id = "other";
      if (i == 3) entry->target = "x86-64-v4-linux";
      if (i == 4) entry->conditions = "fedcba9876543210";
      if (i == 5) entry->result.threads = 2;
      if (i == 6) entry->model = "other.onnx";
    }
  }
  entries.push_back(Entry(20, "b"));
  ASSERT_OK_AND_ASSIGN(const GatedResults results, ChooseResults(entries, kMain, std::nullopt));
  EXPECT_THAT(Ids(results.baseline), ElementsAre("01J1"));
  EXPECT_THAT(Ids(results.candidate), ElementsAre("01J9", "01J20"));
}

TEST(ChooseResultsTest, WhatIsThereTwiceCountsOnce) {
  ASSERT_OK_AND_ASSIGN(
      const GatedResults results,
      ChooseResults({Entry(2, "b"), Entry(1, "a", {kMain}), Entry(1, "a", {kMain}), Entry(2, "b")},
                    kMain, std::nullopt));
  EXPECT_EQ(results.baseline.entries.size(), 1u);
  EXPECT_EQ(results.candidate.entries.size(), 1u);
}

TEST(ChooseResultsTest, SaysOfWhatThereIsNothing) {
  EXPECT_THAT(ChooseResults({Entry(1, "a", {kMain})}, kMain, std::nullopt).status(),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("candidate: none without the tag \"baseline=main\"")));
  EXPECT_THAT(ChooseResults({Entry(1, "a", {kMain})}, kMain, Tag{"commit", "1"}).status(),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("candidate: none with the tag \"commit=1\"")));
  HistoryEntry other = Entry(1, "a", {kMain});
  other.result.threads = 2;
  EXPECT_THAT(
      ChooseResults({other, Entry(2, "b")}, kMain, std::nullopt).status(),
      StatusIs(
          absl::StatusCode::kNotFound,
          HasSubstr("baseline: none with the tag \"baseline=main\" that were measured as "
                    "the newest of \"net.onnx\" for x86-64-v3-linux on \"board\" with 1 thread")));
}

TEST(TimesOfTest, AreMediansAndWhenTheyWereKnown) {
  HistorySeries series;
  series.entries = {Entry(1, "a"), Entry(2, "a")};
  const std::vector<TimedResult> times = TimesOf(series);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[1].call_ns, 1002);
  EXPECT_EQ(times[1].time, series.entries[1].end_time);
}

}  // namespace
}  // namespace slipway
