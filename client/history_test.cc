#include "client/history.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

HistoryEntry Entry(const std::string& id, int64_t seconds) {
  HistoryEntry entry;
  entry.id = id;
  entry.model = "net.onnx";
  entry.target = "x86-64-linux";
  entry.device.id = "board";
  entry.conditions = "c";
  entry.artifact = Digest::Of("artifact");
  entry.create_time = absl::FromUnixSeconds(seconds);
  return entry;
}

std::vector<std::string> Ids(const HistorySeries& series) {
  std::vector<std::string> ids;
  for (const HistoryEntry& entry : series.entries) ids.push_back(entry.id);
  return ids;
}

TEST(HistoryTest, ASeriesIsInOrderOfTime) {
  const auto all = SeriesOf({Entry("c", 3), Entry("a", 1), Entry("b", 2), Entry("b2", 2)});
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(Ids(all[0]), ElementsAre("a", "b", "b2", "c"));
  EXPECT_EQ(all[0].model, "net.onnx");
  EXPECT_EQ(all[0].target, "x86-64-linux");
  EXPECT_EQ(all[0].device, "board");
  EXPECT_EQ(all[0].threads, 1);
  EXPECT_EQ(all[0].conditions, "c");
  EXPECT_THAT(SeriesOf({}), SizeIs(0));
}

TEST(HistoryTest, WhatCannotBeComparedIsAnotherSeries) {
  for (const std::function<void(HistoryEntry&)>& change :
       std::vector<std::function<void(HistoryEntry&)>>{
           [](auto& e) { e.model = "a.onnx"; }, [](auto& e) { e.target = "arm-64-linux"; },
           [](auto& e) { e.device.id = "a"; }, [](auto& e) { e.result.threads = 0; },
           [](auto& e) { e.conditions = "b"; }}) {
    HistoryEntry other = Entry("other", 2);
    change(other);
    const auto all = SeriesOf({Entry("a", 1), other, Entry("b", 3)});
    ASSERT_THAT(all, SizeIs(2));
    EXPECT_THAT(Ids(all[0]), ElementsAre("other"));
    EXPECT_THAT(Ids(all[1]), ElementsAre("a", "b"));
  }
}

TEST(HistoryTest, TellsWhatChanged) {
  EXPECT_FALSE(ChangeBetween(Entry("a", 1), Entry("b", 2)).any());
  HistoryEntry after = Entry("b", 2);
  after.artifact = Digest::Of("other");
  EXPECT_TRUE(ChangeBetween(Entry("a", 1), after).artifact);
  EXPECT_FALSE(ChangeBetween(Entry("a", 1), after).compiler);
  after = Entry("b", 2);
  after.tools = {"halide 15"};
  EXPECT_TRUE(ChangeBetween(Entry("a", 1), after).compiler);
  after = Entry("b", 2);
  after.agent_version = "2";
  EXPECT_TRUE(ChangeBetween(Entry("a", 1), after).agent);
  after = Entry("b", 2);
  after.device.cores = 8;
  EXPECT_TRUE(ChangeBetween(Entry("a", 1), after).device);
  EXPECT_TRUE(ChangeBetween(Entry("a", 1), after).any());
}

}  // namespace
}  // namespace slipway
