#include "server/memory_watch.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::HasSubstr;

class MemoryWatchTest : public ::testing::Test {
 protected:
  FakeClock clock_;
  int64_t bytes_ = 100;
  int64_t freed_ = 0;
  int reads_ = 0;
  MemoryWatch watch_{1'000,
                     {.read =
                          [this] {
                            ++reads_;
                            return bytes_;
                          },
                      .give_back = [this] { bytes_ -= std::exchange(freed_, 0); },
                      .clock = &clock_}};
};

TEST_F(MemoryWatchTest, AboveItsSoftShareNothingNewIsBegun) {
  EXPECT_OK(watch_.MayBegin());
  bytes_ = 799;
  clock_.Advance(kMemoryReadEvery);
  EXPECT_OK(watch_.MayBegin());
  bytes_ = 800;
  clock_.Advance(kMemoryReadEvery);
  EXPECT_THAT(watch_.MayBegin(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("memory")));
  EXPECT_TRUE(watch_.MayConnect());
  bytes_ = 100;
  clock_.Advance(kMemoryReadEvery);
  EXPECT_OK(watch_.MayBegin());
}

TEST_F(MemoryWatchTest, AboveTheLimitNobodyNewConnects) {
  bytes_ = 999;
  EXPECT_TRUE(watch_.MayConnect());
  bytes_ = 1'000;
  clock_.Advance(kMemoryReadEvery);
  EXPECT_FALSE(watch_.MayConnect());
}

TEST_F(MemoryWatchTest, IsReadNowAndThen) {
  for (int i = 0; i < 100; ++i) EXPECT_OK(watch_.MayBegin());
  EXPECT_EQ(reads_, 1);
  clock_.Advance(kMemoryReadEvery);
  EXPECT_TRUE(watch_.MayConnect());
  EXPECT_EQ(reads_, 2);
}

TEST_F(MemoryWatchTest, WhatWasFreedIsGivenBackFirst) {
  bytes_ = 900;
  freed_ = 500;
  EXPECT_OK(watch_.MayBegin());
  // That is not tried again and again.
  bytes_ = 900;
  freed_ = 500;
  clock_.Advance(kMemoryReadEvery);
  EXPECT_FALSE(watch_.MayBegin().ok());
  clock_.Advance(kMemoryGiveBackEvery);
  EXPECT_OK(watch_.MayBegin());
}

}  // namespace
}  // namespace slipway::server
