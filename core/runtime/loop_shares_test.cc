#include "core/runtime/loop_shares.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;

std::vector<int32_t> TakeAll(LoopShares& shares, size_t thread) {
  std::vector<int32_t> taken;
  while (const std::optional<int32_t> index = shares.Take(thread)) taken.push_back(*index);
  return taken;
}

TEST(LoopSharesTest, ThreadsBeginWithNeighbours) {
  LoopShares shares(2, 8);
  EXPECT_EQ(shares.Take(1), 4);
  EXPECT_EQ(shares.Take(0), 0);
  EXPECT_EQ(shares.Take(1), 5);
  EXPECT_EQ(shares.Take(0), 1);
}

TEST(LoopSharesTest, WhoIsDoneTakesFromTheEndOfTheLargestShare) {
  LoopShares shares(3, 9);
  EXPECT_EQ(shares.Take(2), 6);
  EXPECT_THAT(TakeAll(shares, 0), ElementsAre(0, 1, 2, 5, 4, 8, 3, 7));
  EXPECT_EQ(shares.Take(2), std::nullopt);
}

TEST(LoopSharesTest, OneThreadGoesInOrder) {
  LoopShares shares(1, 4);
  EXPECT_FALSE(shares.is_empty());
  EXPECT_THAT(TakeAll(shares, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(shares.is_empty());
}

TEST(LoopSharesTest, FewerIndicesThanThreads) {
  LoopShares shares(8, 2);
  EXPECT_EQ(shares.Take(7), 0);
  EXPECT_EQ(shares.Take(1), 1);
  EXPECT_TRUE(shares.is_empty());
}

TEST(LoopSharesTest, OfNoneThereIsNone) {
  LoopShares shares(3, 0);
  EXPECT_TRUE(shares.is_empty());
  EXPECT_EQ(shares.Take(2), std::nullopt);
}

TEST(LoopSharesTest, ThreadsBeyondTheMostShareShares) {
  LoopShares shares(2 * LoopShares::kMost, 10 * LoopShares::kMost);
  EXPECT_EQ(shares.Take(3), 30);
  EXPECT_EQ(shares.Take(3 + LoopShares::kMost), 31);
}

TEST(LoopSharesTest, ExtentsMayBeAsLargeAsTheyGet) {
  LoopShares shares(2, INT32_MAX);
  EXPECT_EQ(shares.Take(0), 0);
  EXPECT_EQ(shares.Take(1), INT32_MAX / 2);
}

TEST(LoopSharesTest, EachIndexIsGivenOnceWhoeverAsks) {
  constexpr int kIndices = 5000;
  for (int round = 0; round < 20; ++round) {
    LoopShares shares(4, kIndices);
    std::vector<std::atomic<int>> given(kIndices);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int32_t index : TakeAll(shares, t)) given[static_cast<size_t>(index)].fetch_add(1);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < kIndices; ++i) ASSERT_EQ(given[static_cast<size_t>(i)], 1) << i;
  }
}

}  // namespace
}  // namespace slipway
