#include "core/rpc/call_flood.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr CallFloodLimits kLimits = {
    .open = 100, .open_of_each = 2, .broken_off = 50, .broken_off_each_second = 10};

class CallFloodTest : public ::testing::Test {
 protected:
  std::vector<std::string> Look(std::vector<ConnectionCalls> connections) {
    return flood_.Look(now_, connections);
  }

  absl::Duration now_ = absl::Seconds(1'000);
  CallFlood flood_{kLimits};
};

TEST_F(CallFloodTest, CallsOpenAtATimeAreLimited) {
  EXPECT_THAT(Look({{"1", "ada", 102}, {"2", "bob", 102}}), IsEmpty());
  EXPECT_THAT(Look({{"1", "ada", 103}, {"2", "bob", 102}}), ElementsAre("ada"));
}

TEST_F(CallFloodTest, ConnectionsOfOneCallerCountTogether) {
  EXPECT_THAT(Look({{"1", "ada", 60}, {"2", "ada", 60}, {"3", "bob", 60}}), ElementsAre("ada"));
}

TEST_F(CallFloodTest, AFewCallsOnEachOfManyConnectionsAreAFleet) {
  std::vector<ConnectionCalls> fleet;
  for (int i = 0; i < 10'000; ++i) fleet.push_back({std::to_string(i), "fleet", 2});
  EXPECT_THAT(Look(fleet), IsEmpty());
}

TEST_F(CallFloodTest, CallsBrokenOffAreLimited) {
  EXPECT_THAT(Look({{"1", "ada", 0, 0}, {"2", "ada", 0, 0}}), IsEmpty());
  EXPECT_THAT(Look({{"1", "ada", 0, 25}, {"2", "ada", 0, 25}}), IsEmpty());
  EXPECT_THAT(Look({{"1", "ada", 0, 25}, {"2", "ada", 0, 26}}), ElementsAre("ada"));
}

TEST_F(CallFloodTest, CallsBrokenOffAreForgottenInTime) {
  for (int64_t i = 0; i < 1'000; ++i) {
    EXPECT_THAT(Look({{"1", "ada", 0, 10 * i}}), IsEmpty()) << i;
    now_ += absl::Seconds(1);
  }
  for (int64_t i = 0; i < 5; ++i) Look({{"1", "ada", 0, 10'000 + 20 * i}});
  EXPECT_THAT(Look({{"1", "ada", 0, 10'100}}), ElementsAre("ada"));
}

TEST_F(CallFloodTest, WhatWasBrokenOffBeforeTheFirstLookDoesNotCount) {
  EXPECT_THAT(Look({{"1", "ada", 0, 1'000'000}}), IsEmpty());
  EXPECT_THAT(Look({{"1", "ada", 0, 1'000'000}, {"2", "bob", 0, 1'000'000}}), IsEmpty());
  // A name may be used again when its connection has gone.
  EXPECT_THAT(Look({{"2", "bob", 0, 3}}), IsEmpty());
  EXPECT_THAT(Look({{"2", "bob", 0, 54}, {"1", "ada", 103, 2'000'000}}),
              UnorderedElementsAre("ada", "bob"));
}

}  // namespace
}  // namespace slipway
