#include "server/web/changes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::web {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ChangesTest, TellsNewOthersAndGone) {
  const Snapshot before = {{"a", "1"}, {"b", "2"}, {"c", "3"}};
  const Snapshot after = {{"a", "1"}, {"b", "20"}, {"d", "4"}};
  const SnapshotChange change = ChangeBetween(before, after);
  EXPECT_THAT(change.changed, ElementsAre("20", "4"));
  EXPECT_THAT(change.gone, ElementsAre("c"));
  EXPECT_EQ(ChangeJson(change), "{\"changed\":[20,4],\"gone\":[\"c\"]}");
  EXPECT_FALSE(ChangeBetween(after, after).any());
  EXPECT_THAT(ChangeBetween({}, after).gone, IsEmpty());
}

TEST(ChangesTest, AnEventIsALineOfData) {
  EXPECT_EQ(EventText("job", "{\n}\r\n", 7), "event: job\nid: 7\ndata: {}\n\n");
  EXPECT_EQ(EventText("end", "{}"), "event: end\ndata: {}\n\n");
}

}  // namespace
}  // namespace slipway::web
