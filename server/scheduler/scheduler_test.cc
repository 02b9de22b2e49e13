#include "server/scheduler/scheduler.h"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/artifact/versions.h"
#include "core/target/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const absl::Time kNow = absl::FromUnixSeconds(100);

Need Device(const std::string& device = "", const std::string& target = "x86-64-linux",
            uint32_t abi = 1, uint32_t format = 1) {
  return DeviceNeed{device, {.target = *ParseTarget(target), .abi = abi, .format = format}};
}
Supply Board(const std::string& id, const std::string& target = "x86-64-v3-linux") {
  return DeviceSupply{id, {.target = *ParseTarget(target)}};
}

Need Selected(const std::string& selector) {
  return *ReadDeviceNeed(selector, {.target = *ParseTarget("x86-64-linux")});
}
// With so many cores.
Supply BoardOf(const std::string& id, int64_t cores) {
  DeviceAttributes attributes;
  attributes.texts[DeviceAttribute::kId] = {id};
  attributes.numbers[DeviceAttribute::kCores] = cores;
  DeviceSupply board{id, {.target = *ParseTarget("x86-64-v3-linux")}};
  board.attributes = std::make_shared<const DeviceAttributes>(attributes);
  return board;
}

class SchedulerTest : public ::testing::Test {
 protected:
  void Wait(const std::string& id, Need need = Device(), const std::string& owner = "ann",
            int priority = 0, absl::Time not_before = kNow) {
    waiting_.Put({id, owner, priority, std::move(need), not_before});
    waiting_.Release(kNow);
  }
  // Gives `supply` away until nobody wants it; who got it, in order.
  std::vector<std::string> GiveAll(const Supply& supply) {
    std::vector<std::string> got;
    while (const absl::optional<std::string> id = waiting_.Pick(supply, held_)) {
      got.push_back(*id);
      ++held_[owners_.count(*id) > 0 ? owners_[*id] : "ann"];
      waiting_.Erase(*id);
    }
    return got;
  }

  WaitingJobs waiting_;
  HeldByOwner held_;
  std::map<std::string, std::string> owners_;
};

TEST_F(SchedulerTest, FirstComeFirstServed) {
  Wait("2");
  Wait("1");
  Wait("3");
  EXPECT_THAT(GiveAll(Board("d")), ElementsAre("1", "2", "3"));
  EXPECT_EQ(waiting_.size(), 0);
}

TEST_F(SchedulerTest, WhatEnteredIsToldOnce) {
  const auto devices = [this] {
    std::vector<std::string> names;
    for (const Need& need : waiting_.TakeEntered()) {
      names.push_back(std::get<DeviceNeed>(need).device);
    }
    return names;
  };
  Wait("1", Device("a"));
  Wait("2", Device("a"), "bob");
  Wait("3", Device("b"));
  Wait("4", Device("later"), "ann", 0, kNow + absl::Seconds(1));
  Wait("5", Device("gone"));
  waiting_.Erase("5");
  EXPECT_THAT(devices(), ElementsAre("a", "b"));
  EXPECT_THAT(devices(), IsEmpty());
  EXPECT_TRUE(waiting_.IsWanted(Device("a")));
  EXPECT_FALSE(waiting_.IsWanted(Device("a", "arm-64-linux")));
  EXPECT_FALSE(waiting_.IsWanted(Device("later")));
  waiting_.Release(kNow + absl::Seconds(1));
  EXPECT_THAT(devices(), ElementsAre("later"));
  EXPECT_TRUE(waiting_.IsWanted(Device("later")));
}

TEST_F(SchedulerTest, HigherPrioritiesFirst) {
  Wait("1", Device(), "ann", -1);
  Wait("2");
  Wait("3", Device("d"), "bob", 7);
  Wait("4", Device(), "ann", 7);
  // Of one priority, bob holds less once ann has one.
  held_["ann"] = 1;
  EXPECT_THAT(GiveAll(Board("d")), ElementsAre("3", "4", "2", "1"));
}

TEST_F(SchedulerTest, WhoHoldsLeastIsNext) {
  for (const char* id : {"1", "2", "3", "4"}) Wait(id);
  for (const char* id : {"5", "6", "7"}) {
    Wait(id, Device(), "bob");
    owners_[id] = "bob";
  }
  EXPECT_THAT(GiveAll(Board("d")), ElementsAre("1", "5", "2", "6", "3", "7", "4"));
}

TEST_F(SchedulerTest, NamedAndUnnamedDevicesAreOneQueue) {
  Wait("1", Device("other"));
  Wait("2", Device("d"));
  Wait("3");
  Wait("4", Device("d"));
  EXPECT_THAT(GiveAll(Board("d")), ElementsAre("2", "3", "4"));
  EXPECT_THAT(GiveAll(Board("other")), ElementsAre("1"));
}

TEST_F(SchedulerTest, SelectedDevicesAreInTheSameQueue) {
  Wait("1", Selected("cores>=8"));
  Wait("2", Selected("cores<8"));
  Wait("3", Device("small"));
  Wait("4");
  Wait("5", Selected(" id=s*  cores<8 "));
  Wait("6", Selected("cores<8"), "bob", 1);
  EXPECT_EQ(waiting_.PositionOf("2", held_), 2);  // Behind 6, which has the same need.
  EXPECT_EQ(waiting_.PositionOf("5", held_), 1);
  EXPECT_THAT(GiveAll(BoardOf("small", 4)), ElementsAre("6", "2", "3", "4", "5"));
  EXPECT_EQ(waiting_.Pick(Board("unknown"), held_), absl::nullopt);
  EXPECT_THAT(GiveAll(BoardOf("large", 8)), ElementsAre("1"));
  EXPECT_EQ(waiting_.size(), 0);
}

TEST_F(SchedulerTest, WhatIsSelectedMustBeAbleToo) {
  Wait("1", *ReadDeviceNeed("cores>=1", {.target = *ParseTarget("arm-64-linux")}));
  EXPECT_EQ(waiting_.Pick(BoardOf("d", 4), held_), absl::nullopt);
}

TEST_F(SchedulerTest, NeedsAreFitted) {
  Wait("1", Device("", "arm-64-linux"));
  Wait("2", Device("", "x86-64-v4-linux"));
  Wait("3", Device("", "x86-64-linux", 2, 1));
  Wait("4", Device("", "x86-64-linux", 1, 2));
  Wait("5", CompilerNeed{"x86-64-linux", "f"});
  EXPECT_THAT(GiveAll(Board("d")), ElementsAre());
  DeviceSupply newer{"d", {.target = *ParseTarget("x86-64-v4-linux")}};
  newer.offer.abis = {1, 2};
  EXPECT_THAT(GiveAll(newer), ElementsAre("2", "3"));
  newer.offer.formats = {2, 3};
  EXPECT_THAT(GiveAll(newer), ElementsAre("4"));
  EXPECT_THAT(GiveAll(Board("d", "arm-64-linux")), ElementsAre("1"));
}

TEST_F(SchedulerTest, CompilersTakeWhatTheyCompile) {
  Wait("1", CompilerNeed{"x86-64-linux", "e"});
  Wait("2", CompilerNeed{"x86-64-linux", "f"});
  Wait("3", CompilerNeed{"arm-64-linux", "f"});
  Wait("4");
  EXPECT_THAT(GiveAll(TargetFingerprints{{"wasm-32-wasi", "f"}}), ElementsAre());
  EXPECT_THAT(GiveAll(TargetFingerprints{{"x86-64-linux", "f"}, {"arm-64-linux", "f"}}),
              ElementsAre("2", "3"));
  EXPECT_THAT(GiveAll(TargetFingerprints{{"x86-64-linux", "e"}}), ElementsAre("1"));
}

TEST_F(SchedulerTest, NobodyTakesPartBeforeItsTime) {
  Wait("1", Device(), "ann", 0, kNow + absl::Seconds(1));
  Wait("2", Device(), "ann", 0, kNow + absl::Nanoseconds(1));
  EXPECT_EQ(waiting_.NextRelease(), kNow + absl::Nanoseconds(1));
  EXPECT_EQ(waiting_.Pick(Board("d"), held_), absl::nullopt);
  EXPECT_EQ(waiting_.PositionOf("1", held_), 0);
  waiting_.Release(kNow + absl::Seconds(1));
  EXPECT_EQ(waiting_.NextRelease(), absl::nullopt);
  EXPECT_THAT(GiveAll(Board("d")), ElementsAre("1", "2"));
}

TEST_F(SchedulerTest, WhatIsPutAgainWaitsAnew) {
  Wait("1");
  Wait("1", CompilerNeed{"x86-64-linux", "f"});
  EXPECT_EQ(waiting_.size(), 1);
  EXPECT_EQ(waiting_.Pick(Board("d"), held_), absl::nullopt);
  Wait("2");
  waiting_.Erase("2");
  waiting_.Erase("unknown");
  EXPECT_FALSE(waiting_.Contains("2"));
  EXPECT_THAT(GiveAll(TargetFingerprints{{"x86-64-linux", "f"}}), ElementsAre("1"));
}

// Against giving everything away.
TEST_F(SchedulerTest, PositionsAreTheOrderInWhichAllGo) {
  constexpr int kJobs = 30;
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    held_.clear();
    for (int i = 0; i < 3; ++i) held_[absl::StrCat("owner ", i)] = random() % 4;
    for (int i = 0; i < kJobs; ++i) {
      const std::string id = absl::StrFormat("%02d", i);
      owners_[id] = absl::StrCat("owner ", random() % 3);
      Wait(id, Device(), owners_[id], static_cast<int>(random() % 3));
    }
    std::vector<std::string> by_position(kJobs);
    for (const auto& [id, owner] : owners_) {
      const int64_t position = waiting_.PositionOf(id, held_);
      ASSERT_THAT(position, ::testing::AllOf(::testing::Ge(1), ::testing::Le(kJobs)));
      by_position[position - 1] = id;
    }
    const std::vector<WaitingJobs::LineOrder> order = waiting_.Order(held_);
    ASSERT_EQ(order.size(), 1u);
    EXPECT_EQ(std::vector<std::string>(order[0].ids.begin(), order[0].ids.end()), by_position);
    EXPECT_EQ(GiveAll(Board("d")), by_position);
  }
}

TEST_F(SchedulerTest, EachNeedIsALine) {
  Wait("1");
  Wait("2", Device("d"));
  Wait("3", CompilerNeed{"x86-64-linux", "f"});
  Wait("4");
  Wait("5", Device(), "ann", 0, kNow + absl::Seconds(1));
  std::vector<std::vector<std::string>> lines;
  for (const WaitingJobs::LineOrder& line : waiting_.Order(held_)) {
    lines.emplace_back(line.ids.begin(), line.ids.end());
  }
  EXPECT_THAT(lines, ::testing::UnorderedElementsAre(ElementsAre("1", "4"), ElementsAre("2"),
                                                     ElementsAre("3")));
  EXPECT_THAT(waiting_.Later(), ElementsAre("5"));
  EXPECT_EQ(waiting_.Find("2")->owner, "ann");
  EXPECT_EQ(waiting_.Find("6"), nullptr);
  EXPECT_EQ(WaitingJobs::NameOfNeed(Device("d")), WaitingJobs::NameOfNeed(Device("d")));
  EXPECT_NE(WaitingJobs::NameOfNeed(Device("d")), WaitingJobs::NameOfNeed(Device()));
}

class OpenForSomeTest : public SchedulerTest {
 protected:
  void Wait(const std::string& id, const std::string& owner, int minutes, int priority = 0) {
    waiting_.Put({.id = id,
                  .owner = owner,
                  .priority = priority,
                  .need = Device(),
                  .not_before = kNow,
                  .longest = absl::Minutes(minutes)});
    waiting_.Release(kNow);
  }
  absl::optional<std::string> Pick(const Opening& opening) {
    return waiting_.Pick(Board("d"), held_, opening);
  }
};

TEST_F(OpenForSomeTest, AClosedDeviceGetsNothing) {
  Wait("1", "ann", 1);
  EXPECT_EQ(Pick({.is_closed = true}), absl::nullopt);
  EXPECT_EQ(Pick({}), "1");
}

TEST_F(OpenForSomeTest, AReservedDeviceGetsItsOwnersWorkWhateverIsAhead) {
  Wait("1", "ann", 1, /*priority=*/9);
  Wait("2", "cid", 1);
  Wait("3", "bob", 1, /*priority=*/-9);
  EXPECT_EQ(Pick({.only = "bob"}), "3");
  EXPECT_EQ(Pick({.only = "eve"}), absl::nullopt);
}

TEST_F(OpenForSomeTest, WhatMayTakeTooLongLetsOthersGo) {
  Wait("1", "ann", 20);
  Wait("2", "ann", 9);
  Wait("3", "ann", 5);
  Wait("4", "bob", 30, /*priority=*/-1);
  const auto before = [](int minutes) {
    return Opening{.first = Opening::Begin{.owner = "bob", .in = absl::Minutes(minutes)}};
  };
  EXPECT_EQ(Pick(before(20)), "1");
  // Not the next that would fit: the one that takes least.
  EXPECT_EQ(Pick(before(19)), "3");
  EXPECT_EQ(Pick(before(5)), "3");
  EXPECT_EQ(Pick(before(4)), "4");
  waiting_.Erase("4");
  EXPECT_EQ(Pick(before(4)), absl::nullopt);
}

}  // namespace
}  // namespace slipway::server
