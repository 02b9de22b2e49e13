#include "core/rpc/retry.h"

#include "gtest/gtest.h"

namespace slipway {
namespace {

void ExpectAbout(absl::Duration pause, absl::Duration wanted) {
  EXPECT_GE(pause, 0.75 * wanted);
  EXPECT_LE(pause, 1.25 * wanted);
}

TEST(Backoff, DoublesUpToTheLongest) {
  Backoff backoff;
  for (int repeat = 0; repeat < 2; ++repeat) {
    absl::Duration wanted = Backoff::kFirst;
    for (; wanted < Backoff::kLongest; wanted *= 2) ExpectAbout(backoff.Next(), wanted);
    for (int i = 0; i < 3; ++i) ExpectAbout(backoff.Next(), Backoff::kLongest);
    backoff.Reset();
  }
}

TEST(Backoff, IsNotTheSameForTwo) {
  Backoff a, b;
  bool differs = false;
  for (int i = 0; i < 8; ++i) differs |= a.Next() != b.Next();
  EXPECT_TRUE(differs);
}

TEST(Backoff, IsLongAfterWhatOnlyAnOperatorCanEnd) {
  Backoff backoff;
  ExpectAbout(backoff.After(absl::UnauthenticatedError("wrong token")), Backoff::kLongest);
  ExpectAbout(backoff.After(absl::FailedPreconditionError("too old")), Backoff::kLongest);
  ExpectAbout(backoff.After(absl::UnavailableError("away")), Backoff::kFirst);
  ExpectAbout(backoff.After(absl::AlreadyExistsError("a former life")), 2 * Backoff::kFirst);
  ExpectAbout(backoff.After(absl::DeadlineExceededError("slow")), 4 * Backoff::kFirst);
}

}  // namespace
}  // namespace slipway
