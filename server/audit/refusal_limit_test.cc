#include "server/audit/refusal_limit.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace slipway::server {
namespace {

constexpr absl::Duration kStart = absl::Hours(3);

TEST(RefusalLimit, OneStrangerHidesNoOther) {
  RefusalLimit limit;
  int let_in = 0;
  // Each connection has a port of its own.
  for (int i = 0; i < 1000; ++i) {
    if (limit.LetIn(absl::StrCat("ipv4:192.0.2.7:", 1024 + i), kStart)) ++let_in;
  }
  EXPECT_EQ(let_in, RefusalLimit::kMostOfAddress);
  EXPECT_TRUE(limit.LetIn("ipv4:192.0.2.8:1024", kStart));
  EXPECT_TRUE(limit.LetIn("unix:", kStart));
}

TEST(RefusalLimit, AllStrangersHaveALimit) {
  RefusalLimit limit;
  int let_in = 0;
  for (int i = 0; i < 1000; ++i) {
    if (limit.LetIn(absl::StrCat("ipv4:192.0.", i / 200, ".", i % 200, ":7"), kStart)) ++let_in;
  }
  EXPECT_EQ(let_in, RefusalLimit::kMost);
}

TEST(RefusalLimit, TellsOnceHowManyWereLeftOut) {
  RefusalLimit limit;
  EXPECT_EQ(limit.TakeLeftOut(kStart), 0);
  for (int i = 0; i < RefusalLimit::kMostOfAddress + 7; ++i) {
    limit.LetIn("unix:", kStart + absl::Seconds(i));
  }
  EXPECT_EQ(limit.TakeLeftOut(kStart + absl::Seconds(59)), 0);
  EXPECT_EQ(limit.TakeLeftOut(kStart + absl::Seconds(60)), 7);
  EXPECT_EQ(limit.TakeLeftOut(kStart + absl::Seconds(60)), 0);
  // Another minute.
  EXPECT_TRUE(limit.LetIn("unix:", kStart + absl::Seconds(60)));
  for (int i = 0; i < RefusalLimit::kMostOfAddress; ++i)
    limit.LetIn("unix:", kStart + absl::Seconds(61));
  EXPECT_EQ(limit.TakeLeftOut(kStart + absl::Seconds(62)), 0);
  EXPECT_EQ(limit.TakeLeftOut(), 1);
}

}  // namespace
}  // namespace slipway::server
