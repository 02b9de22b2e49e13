#include "server/scheduler/free_peers.h"

#include <random>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "core/target/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Need Device(const std::string& device = "", const std::string& target = "x86-64-linux",
            uint32_t abi = 1) {
  return DeviceNeed{device, {.target = *ParseTarget(target), .abi = abi}};
}
Supply Board(const std::string& id, const std::string& target = "x86-64-v3-linux",
             uint32_t abi = 1) {
  return DeviceSupply{id, {.target = *ParseTarget(target), .abis = {1, abi}}};
}
Supply Compiler(const std::string& family, char fingerprint) {
  return TargetFingerprints{{family, std::string(64, fingerprint)}};
}

// With so many cores.
Supply BoardOf(const std::string& id, int64_t cores,
               const std::string& target = "x86-64-v3-linux") {
  DeviceAttributes attributes;
  attributes.numbers[DeviceAttribute::kCores] = cores;
  DeviceSupply board{id, {.target = *ParseTarget(target)}};
  board.attributes = std::make_shared<const DeviceAttributes>(attributes);
  return board;
}
Need Selected(const std::string& selector) {
  return *ReadDeviceNeed(selector, {.target = *ParseTarget("x86-64-linux")});
}

std::vector<std::string> All(const FreePeers& free, const Need& need) {
  std::vector<std::string> all;
  for (auto peer = free.Next(need, ""); peer.has_value(); peer = free.Next(need, *peer)) {
    all.push_back(*peer);
  }
  return all;
}

TEST(FreePeersTest, InOrderThoseThatFit) {
  FreePeers free;
  free.Put("agent/c", Board("c"));
  free.Put("agent/a", Board("a", "arm-64-linux"));
  free.Put("agent/b", Board("b", "x86-64-linux"));
  free.Put("agent/d", Board("d", "x86-64-v3-linux", 2));
  free.Put("worker/w", Compiler("x86-64-linux", 'f'));
  EXPECT_THAT(All(free, Device()), ElementsAre("agent/b", "agent/c", "agent/d"));
  EXPECT_THAT(All(free, Device("", "x86-64-v3-linux")), ElementsAre("agent/c", "agent/d"));
  EXPECT_THAT(All(free, Device("", "x86-64-linux", 2)), ElementsAre("agent/d"));
  EXPECT_THAT(All(free, Device("", "arm-64-linux")), ElementsAre("agent/a"));
  EXPECT_THAT(All(free, CompilerNeed{"x86-64-linux", std::string(64, 'f')}),
              ElementsAre("worker/w"));
  EXPECT_THAT(All(free, CompilerNeed{"x86-64-linux", std::string(64, 'e')}), IsEmpty());
}

TEST(FreePeersTest, DevicesByASelector) {
  FreePeers free;
  free.Put("agent/a", BoardOf("a", 2));
  free.Put("agent/b", BoardOf("b", 8));
  free.Put("agent/c", BoardOf("c", 8, "arm-64-linux"));
  free.Put("agent/d", Board("d"));  // Of which nothing is known.
  EXPECT_THAT(All(free, Selected("cores>=4")), ElementsAre("agent/b"));
  EXPECT_THAT(All(free, Selected("cores<4")), ElementsAre("agent/a"));
  // As they come, change and go.
  free.Put("agent/e", BoardOf("e", 16));
  free.Put("agent/a", BoardOf("a", 4));
  EXPECT_THAT(All(free, Selected("cores>=4")), ElementsAre("agent/a", "agent/b", "agent/e"));
  EXPECT_THAT(All(free, Selected("cores<4")), IsEmpty());
  free.Erase("agent/b");
  EXPECT_THAT(All(free, Selected("cores>=4")), ElementsAre("agent/a", "agent/e"));
  free.Put("agent/b", BoardOf("b", 8));
  EXPECT_THAT(All(free, Selected("cores>=8")), ElementsAre("agent/b", "agent/e"));
}

TEST(FreePeersTest, MoreSelectorsThanAreRemembered) {
  FreePeers free;
  free.Put("agent/a", BoardOf("a", 300));
  for (int round = 0; round < 2; ++round) {
    for (int cores = 0; cores <= 600; ++cores) {
      const bool matches = !All(free, Selected(absl::StrCat("cores>=", cores))).empty();
      ASSERT_EQ(matches, cores <= 300) << cores;
    }
    free.Put("agent/a", BoardOf("a", 300));
  }
}

TEST(FreePeersTest, ADeviceByItsName) {
  FreePeers free;
  free.Put("agent/a", Board("board", "arm-64-linux"));
  free.Put("agent/b", Board("b"));
  EXPECT_THAT(All(free, Device("board", "arm-64-linux")), ElementsAre("agent/a"));
  EXPECT_THAT(All(free, Device("board")), IsEmpty());
  EXPECT_THAT(All(free, Device("nobody")), IsEmpty());
  free.Erase("agent/a");
  EXPECT_THAT(All(free, Device("board", "arm-64-linux")), IsEmpty());
}

TEST(FreePeersTest, WhatIsSaidLastCounts) {
  FreePeers free;
  free.Put("agent/a", Board("a", "arm-64-linux"));
  free.Put("agent/a", Board("a2"));
  EXPECT_THAT(All(free, Device()), ElementsAre("agent/a"));
  EXPECT_THAT(All(free, Device("", "arm-64-linux")), IsEmpty());
  EXPECT_THAT(All(free, Device("a")), IsEmpty());
  EXPECT_THAT(All(free, Device("a2")), ElementsAre("agent/a"));
  // Another agent has the device now, and the one from before goes.
  free.Put("agent/b", Board("a2"));
  free.Erase("agent/a");
  EXPECT_THAT(All(free, Device("a2")), ElementsAre("agent/b"));
  free.Erase("agent/a");
}

// Whatever comes and goes, the same is found as by looking at everybody.
TEST(FreePeersTest, FindsWhatASearchOfAllFinds) {
  std::mt19937 random(1);
  const std::vector<std::string> targets = {"x86-64-linux", "x86-64-v3-linux", "arm-64-linux"};
  FreePeers free;
  absl::btree_map<std::string, Supply> all;
  for (int step = 0; step < 2000; ++step) {
    const std::string id = absl::StrCat("d", random() % 20);
    const std::string peer = absl::StrCat("agent/", id);
    if (random() % 3 == 0) {
      free.Erase(peer);
      all.erase(peer);
    } else {
      const Supply supply = Board(id, targets[random() % targets.size()], 1 + random() % 2);
      free.Put(peer, supply);
      all[peer] = supply;
    }
    const Need need = Device(random() % 2 == 0 ? "" : absl::StrCat("d", random() % 20),
                             targets[random() % targets.size()], 1 + random() % 2);
    std::vector<std::string> wanted;
    for (const auto& [key, supply] : all) {
      if (Fits(need, supply)) wanted.push_back(key);
    }
    ASSERT_EQ(All(free, need), wanted) << step;
  }
}

}  // namespace
}  // namespace slipway::server
