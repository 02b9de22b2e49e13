#include "client/agent_offers.h"

#include <string>

#include "core/base/files.h"
#include "core/wire/digest_proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

TEST(AgentOffersTest, AFileSaysWhatItIs) {
  const TemporaryFolder folder = *TemporaryFolder::Create("offer");
  const std::string path = JoinPath(folder.path(), "agent");
  const std::string bytes = "\x7f ELF slipway-agent-stamp 1.2.3 arm-64-linux; and so on";
  ASSERT_OK(WriteFileAtomically(path, bytes, /*durable=*/false));
  ASSERT_OK_AND_ASSIGN(const AgentBinary binary, ReadAgentBinary(path));
  EXPECT_EQ(binary.digest, Digest::Of(bytes));
  const v1::OfferAgentRequest request =
      ToProto({.path = path, .selector = "board-1", .at_once = 3, .max_failures = 2}, binary);
  EXPECT_EQ(request.offer().version(), "1.2.3");
  EXPECT_EQ(request.offer().platform(), "arm-64-linux");
  EXPECT_EQ(request.offer().binary().sha256(), binary.digest.hex());
  EXPECT_EQ(request.offer().selector(), "board-1");
  EXPECT_EQ(request.offer().at_once(), 3);
  EXPECT_EQ(request.offer().max_failures(), 2);
  ASSERT_OK(WriteFileAtomically(path, "something else", /*durable=*/false));
  EXPECT_THAT(ReadAgentBinary(path),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no binary of the agent")));
  EXPECT_THAT(ReadAgentBinary(path + "?"), StatusIs(absl::StatusCode::kNotFound));
}

TEST(AgentOffersTest, AnswersThatAreNoneAreRefused) {
  v1::ListAgentOffersResponse response;
  response.add_rollouts()->mutable_offer()->set_platform("x");
  EXPECT_THAT(RolloutsFromProto(response), StatusIs(absl::StatusCode::kInternal));
  v1::Device device;
  EXPECT_FALSE(AgentUpdateFromProto(device)->has_value());
  device.mutable_update();
  EXPECT_THAT(AgentUpdateFromProto(device), StatusIs(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace slipway
