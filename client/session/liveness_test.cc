#include "client/session/liveness.h"

#include "gtest/gtest.h"

namespace slipway {
namespace {

using Action = Liveness::Action;

absl::Duration S(double seconds) { return absl::Seconds(seconds); }

TEST(LivenessTest, BeatsAtEveryInterval) {
  Liveness liveness(S(1), S(3.5), S(10));
  EXPECT_EQ(liveness.next(), S(11));
  EXPECT_EQ(liveness.At(S(10.9)), Action::kNone);
  EXPECT_EQ(liveness.At(S(11)), Action::kBeat);
  EXPECT_EQ(liveness.At(S(11)), Action::kNone);
  EXPECT_EQ(liveness.next(), S(12));
}

TEST(LivenessTest, AsksOnceAfterSilence) {
  Liveness liveness(S(1), S(2.5), S(0));
  EXPECT_EQ(liveness.At(S(1)), Action::kBeat);
  liveness.Heard(S(1.1));
  EXPECT_EQ(liveness.At(S(2)), Action::kBeat);
  EXPECT_EQ(liveness.At(S(3)), Action::kBeat);
  EXPECT_EQ(liveness.next(), S(3.6));
  EXPECT_EQ(liveness.At(S(3.5)), Action::kNone);
  EXPECT_TRUE(liveness.has_heard());
  EXPECT_EQ(liveness.At(S(3.6)), Action::kAsk);
  EXPECT_FALSE(liveness.has_heard());
  EXPECT_EQ(liveness.silent_for(S(3.6)), S(2.5));
  EXPECT_EQ(liveness.At(S(3.7)), Action::kNone);
  EXPECT_EQ(liveness.next(), S(4));
  EXPECT_EQ(liveness.At(S(4)), Action::kBeat);
}

TEST(LivenessTest, WhatComesMeanwhileTakesTheQuestionBack) {
  Liveness liveness(S(1), S(1.5), S(0));
  EXPECT_EQ(liveness.At(S(1)), Action::kBeat);
  EXPECT_EQ(liveness.At(S(1.5)), Action::kAsk);
  liveness.Heard(S(1.6));
  EXPECT_TRUE(liveness.has_heard());
  EXPECT_EQ(liveness.At(S(3.1)), Action::kAsk);
}

TEST(LivenessTest, WhoWasStoppedItselfBlamesNobody) {
  Liveness liveness(S(1), S(2.5), S(0));
  EXPECT_EQ(liveness.At(S(1)), Action::kBeat);
  EXPECT_EQ(liveness.At(S(60)), Action::kBeat);
  EXPECT_EQ(liveness.At(S(61)), Action::kBeat);
  EXPECT_EQ(liveness.At(S(62)), Action::kBeat);
  EXPECT_EQ(liveness.At(S(62.5)), Action::kAsk);
}

}  // namespace
}  // namespace slipway
