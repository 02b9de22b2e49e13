#include "core/rpc/agent_statement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "core/rpc/program_statement.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kDenied = absl::StatusCode::kPermissionDenied;
constexpr char kPlatform[] = "arm-64-linux";
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

struct Server {
  Server() {
    const auto authority = *CertificateAuthority::Create(kNow);
    const CertificateRequest request = *NewCertificateRequest();
    const std::string certificate = *authority->SignSigner(request.request, kNow, absl::Hours(1));
    signer = *StatementSigner::Create(request.key, certificate);
    checker = *StatementChecker::Create(authority->certificate());
  }
  std::unique_ptr<StatementSigner> signer;
  std::unique_ptr<StatementChecker> checker;
};

const OfferedBinary kOffered = {Digest::Of("binary"), "1.2.3", kPlatform};

TEST(AgentStatementTest, SaysWhichBinary) {
  const Server server;
  ASSERT_OK_AND_ASSIGN(const v1::SignedStatement statement,
                       SignAgent(*server.signer, kOffered, kNow));
  ASSERT_OK_AND_ASSIGN(const OfferedBinary said,
                       CheckAgentStatement(*server.checker, statement, kPlatform));
  EXPECT_EQ(said.binary, kOffered.binary);
  EXPECT_EQ(said.version, "1.2.3");
}

TEST(AgentStatementTest, WhatIsNotOfThisServerForThisPlatformIsNotTaken) {
  const Server server;
  ASSERT_OK_AND_ASSIGN(const v1::SignedStatement statement,
                       SignAgent(*server.signer, kOffered, kNow));
  EXPECT_THAT(CheckAgentStatement(*server.checker, statement, "x86-64-linux"),
              StatusIs(kDenied, HasSubstr("not for \"x86-64-linux\"")));
  EXPECT_THAT(CheckAgentStatement(*Server().checker, statement, kPlatform), StatusIs(kDenied));
  v1::SignedStatement changed = statement;
  changed.mutable_payload()->back() ^= 1;
  EXPECT_THAT(CheckAgentStatement(*server.checker, changed, kPlatform), StatusIs(kDenied));
  EXPECT_THAT(CheckAgentStatement(*server.checker, {}, kPlatform), StatusIs(kDenied));
  // What was said of a program says nothing of an agent.
  const v1::SignedStatement program =
      ToProto(*server.signer->Sign(kProgramPurpose, statement.payload(), kNow));
  EXPECT_THAT(CheckAgentStatement(*server.checker, program, kPlatform), StatusIs(kDenied));
}

TEST(AgentStatementTest, WhatSaysNothingOfUseIsNotTaken) {
  const Server server;
  const auto check = [&server](const v1::AgentStatement& agent) {
    const v1::SignedStatement statement =
        ToProto(*server.signer->Sign(kAgentPurpose, agent.SerializeAsString(), kNow));
    return CheckAgentStatement(*server.checker, statement, kPlatform).status();
  };
  v1::AgentStatement agent;
  agent.set_platform(kPlatform);
  EXPECT_THAT(check(agent), StatusIs(kDenied, HasSubstr("no binary")));
  agent.mutable_binary()->set_sha256(std::string(64, 'a'));
  agent.mutable_binary()->set_size_bytes(kMaxAgentBytes + 1);
  EXPECT_THAT(check(agent), StatusIs(kDenied, HasSubstr("at most")));
  agent.mutable_binary()->set_size_bytes(kMaxAgentBytes);
  EXPECT_OK(check(agent));
}

}  // namespace
}  // namespace slipway
