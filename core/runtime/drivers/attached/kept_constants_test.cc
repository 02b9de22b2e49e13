#include "core/runtime/drivers/attached/kept_constants.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

DeviceMemory At(uint64_t address, int64_t bytes) { return {address, nullptr, bytes}; }

std::vector<uint64_t> Addresses(const std::vector<DeviceMemory>& memories) {
  std::vector<uint64_t> addresses;
  for (const DeviceMemory& memory : memories) addresses.push_back(memory.address);
  return addresses;
}

TEST(KeptConstantsTest, WhatIsHeldStays) {
  KeptConstants kept(100);
  EXPECT_FALSE(kept.Take("a").has_value());
  kept.Add("a", At(64, 1000));
  EXPECT_EQ(kept.Take("a")->address, 64u);
  EXPECT_THAT(kept.Drop(), IsEmpty());
  EXPECT_THAT(kept.Return(At(64, 1000)), IsEmpty());
  EXPECT_THAT(kept.Drop(), IsEmpty());
  // Of more bytes than are kept.
  EXPECT_THAT(Addresses(kept.Return(At(64, 1000))), ElementsAre(64));
  EXPECT_FALSE(kept.Take("a").has_value());
}

TEST(KeptConstantsTest, WhatWasReturnedLastIsKeptLongest) {
  KeptConstants kept(100);
  kept.Add("a", At(64, 40));
  kept.Add("b", At(128, 40));
  kept.Add("c", At(192, 40));
  EXPECT_THAT(kept.Return(At(128, 40)), IsEmpty());
  EXPECT_THAT(kept.Return(At(64, 40)), IsEmpty());
  EXPECT_THAT(Addresses(kept.Return(At(192, 40))), ElementsAre(128));
  EXPECT_EQ(kept.Take("a")->address, 64u);
  EXPECT_FALSE(kept.Take("b").has_value());
  EXPECT_THAT(Addresses(kept.Drop()), ElementsAre(192));
  EXPECT_THAT(kept.Return(At(64, 40)), IsEmpty());
  kept.Add("d", At(256, 0));
  EXPECT_THAT(kept.Return(At(256, 0)), IsEmpty());
  EXPECT_THAT(Addresses(kept.Drop()), UnorderedElementsAre(64, 256));
}

}  // namespace
}  // namespace slipway
