#include "device_agent/agent_identity.h"

#include <string>

#include "core/artifact/versions.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOkAndHolds;
using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(CheckAgentId, KnowsGoodFromBad) {
  for (const char* good : {"a", "0", "phone-1", "a.b_c-d", "pixel7.lab"}) {
    EXPECT_OK(CheckAgentId(good)) << good;
  }
  for (const std::string& bad : {std::string(), std::string("-a"), std::string("A"),
                                 std::string("a b"), std::string("a/b"), std::string(65, 'a')}) {
    EXPECT_THAT(CheckAgentId(bad), StatusIs(absl::StatusCode::kInvalidArgument)) << bad;
  }
}

TEST(IdFromHostName, GivesGoodIds) {
  EXPECT_EQ(IdFromHostName("Build-Host.Lab"), "build-host.lab");
  EXPECT_EQ(IdFromHostName("--x"), "x");
  EXPECT_EQ(IdFromHostName("\xc3\xa9"), "device");
  EXPECT_EQ(IdFromHostName(std::string(100, 'h')).size(), 48u);
}

TEST(KeepAgentId, IsTheSameAfterARestart) {
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("id"));
  ASSERT_OK_AND_ASSIGN(const std::string id, KeepAgentId(folder.path(), ""));
  EXPECT_OK(CheckAgentId(id));
  EXPECT_THAT(KeepAgentId(folder.path(), ""), IsOkAndHolds(id));
  EXPECT_THAT(KeepAgentId(folder.path(), "chosen"), IsOkAndHolds(std::string("chosen")));
  EXPECT_THAT(KeepAgentId(folder.path(), ""), IsOkAndHolds(std::string("chosen")));
  EXPECT_THAT(KeepAgentId(folder.path(), "Bad Id"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"Bad Id\"")));
}

TEST(MakeIdentity, InstancesDiffer) {
  v1::DeviceDescription device;
  device.set_target("x86-64-linux");
  const v1::AgentState a = MakeIdentity("x", device);
  const v1::AgentState b = MakeIdentity("x", device);
  EXPECT_EQ(a.agent_id(), "x");
  EXPECT_EQ(a.devices(0).id(), "x");
  EXPECT_NE(a.instance_id(), b.instance_id());
  EXPECT_EQ(a.min_abi(), SLIPWAY_OLDEST_ABI_VERSION);
  EXPECT_EQ(a.max_abi(), SLIPWAY_ABI_VERSION);
  EXPECT_EQ(a.min_format(), 1);
  EXPECT_EQ(a.max_format(), static_cast<int>(kManifestFormatVersion));
  EXPECT_EQ(a.devices(0).target(), "x86-64-linux");
}

}  // namespace
}  // namespace slipway
