#include "client/tuning/schedule_search.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(ScheduleSearchTest, TriesTheNextOfEachKernelAtATime) {
  ScheduleSearch search(
      {{"a", "a0", {"a1", "a2"}, {}}, {"b", "b0", {"b1"}, {}}, {"c", "c0", {}, {}}});
  EXPECT_THAT(search.Next(), ElementsAre(Pair("a", "a1"), Pair("b", "b1")));
  search.Drop("a");
  search.Drop("b");
  EXPECT_THAT(search.Next(), ElementsAre(Pair("a", "a2")));
  search.Drop("a");
  EXPECT_THAT(search.Next(), IsEmpty());
}

TEST(ScheduleSearchTest, GoesOnNearWhatWasBetterAndTriesNothingTwice) {
  ScheduleSearch search({{"a", "a0", {"a1", "a2", "a3"}, {}}});
  search.Drop("a");
  EXPECT_THAT(search.Next(), ElementsAre(Pair("a", "a2")));
  // a3, which was near the first one, was not tried and is near this one, too; a0 and a1 were.
  search.Take("a", {"a1", "a0", "a4", "a3", "a2"});
  EXPECT_THAT(search.Next(), ElementsAre(Pair("a", "a4")));
  search.Drop("a");
  EXPECT_THAT(search.Next(), ElementsAre(Pair("a", "a3")));
  search.Drop("a");
  EXPECT_THAT(search.Next(), IsEmpty());
}

}  // namespace
}  // namespace slipway
