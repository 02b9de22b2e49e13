#include "client/cli/lists/device_news.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace slipway::cli {
namespace {

constexpr absl::Time At(int64_t seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

Device ADevice(const std::string& id, DeviceState state) {
  Device device;
  device.id = id;
  device.state = state;
  device.last_seen = absl::UnixEpoch();
  return device;
}

class DeviceNewsTest : public ::testing::Test {
 protected:
  DeviceNews news_{*ParseColumns("id,state,seen")};
};

TEST_F(DeviceNewsTest, TellsEachChangeOnce) {
  const Device a = ADevice("a", DeviceState::kIdle);
  const Device board = ADevice("board-10", DeviceState::kIdle);
  EXPECT_EQ(news_.Take({a, board}, At(1)),
            "1970-01-01 00:00:01 UTC  a         idle  1.00 s ago\n"
            "1970-01-01 00:00:01 UTC  board-10  idle  1.00 s ago\n");
  // What is seen later and later is no news.
  EXPECT_EQ(news_.Take({a, board}, At(2)), "");
  Device busy = ADevice("a", DeviceState::kBusy);
  busy.job_id = "01J";
  EXPECT_EQ(news_.Take({busy, board}, At(3)),
            "1970-01-01 00:00:03 UTC  a         busy with 01J  3.00 s ago\n");
  EXPECT_EQ(news_.Take({busy, board}, At(4)), "");
}

TEST_F(DeviceNewsTest, TellsWhatIsGoneAndComesBack) {
  const Device a = ADevice("a", DeviceState::kIdle);
  EXPECT_NE(news_.Take({a}, At(1)), "");
  EXPECT_EQ(news_.Take({}, At(2)), "1970-01-01 00:00:02 UTC  a is not listed any more\n");
  EXPECT_EQ(news_.Take({}, At(3)), "");
  EXPECT_NE(news_.Take({a}, At(4)), "");
}

TEST_F(DeviceNewsTest, ShowsNoControlCharacters) {
  EXPECT_THAT(news_.Take({ADevice("a\x1b[2J", DeviceState::kIdle)}, At(1)),
              ::testing::HasSubstr("a\\x1b[2J"));
}

}  // namespace
}  // namespace slipway::cli
