#include "server/devices/device_need.h"

#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::HasSubstr;

DeviceSupply Board() {
  DeviceAttributes attributes;
  attributes.texts[DeviceAttribute::kId] = {"board-1"};
  attributes.labels = {{"lab", "berlin"}};
  return {.device = "board-1",
          .offer = {.target = *ParseTarget("x86-64-v3-linux")},
          .attributes = std::make_shared<const DeviceAttributes>(std::move(attributes))};
}

DeviceNeed Need(absl::string_view device, absl::string_view target = "x86-64-linux") {
  absl::StatusOr<DeviceNeed> need = ReadDeviceNeed(device, {.target = *ParseTarget(target)});
  EXPECT_OK(need.status());
  return *std::move(need);
}

TEST(DeviceNeedTest, ADeviceIsMeantByItsIdOrBySelector) {
  EXPECT_TRUE(IsMeant(Need(""), Board()));
  EXPECT_TRUE(IsMeant(Need("board-1"), Board()));
  EXPECT_FALSE(IsMeant(Need("board"), Board()));
  EXPECT_TRUE(IsMeant(Need("id=board-*"), Board()));
  EXPECT_TRUE(IsMeant(Need("label:lab=berlin"), Board()));
  EXPECT_FALSE(IsMeant(Need("!label:lab"), Board()));
  // Of which only the id is known.
  EXPECT_FALSE(IsMeant(Need("!label:lab"), {.device = "board-1"}));
  EXPECT_TRUE(IsMeant(Need("board-1"), {.device = "board-1"}));
}

TEST(DeviceNeedTest, AndMustBeAbleTo) {
  EXPECT_TRUE(Fits(Need("id=board-*"), Board()));
  EXPECT_FALSE(Fits(Need("id=board-*", "x86-64-v4-linux"), Board()));
  EXPECT_FALSE(Fits(Need("id=boat-*"), Board()));
}

TEST(DeviceNeedTest, EqualSelectorsAreWrittenAlike) {
  EXPECT_EQ(Need(" id=board-*   memory>=1024MiB").device, "id=board-* memory>=1GiB");
  EXPECT_EQ(Need("board-1").device, "board-1");
  EXPECT_FALSE(Need("board-1").selector.has_value());
  EXPECT_THAT(ReadDeviceNeed("memory>=lots", {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("^")));
}

}  // namespace
}  // namespace slipway::server
