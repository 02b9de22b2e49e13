// An agent that listens without a server: who may call it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>

#include "client/session.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/identity/identity_file.h"
#include "tests/common/cluster.h"
#include "tests/common/service_process.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using Code = absl::StatusCode;

class AgentDoorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    UseHome("home");
    agent_ = Start("agent");
  }
  // Whose files this test has from now on.
  void UseHome(const std::string& name) const {
    setenv("XDG_CONFIG_HOME", JoinPath(folder_.path(), name).c_str(), 1);
  }
  std::unique_ptr<ServiceProcess> Start(const std::string& name,
                                        const std::string& listen = "127.0.0.1:0") const {
    auto agent = std::make_unique<ServiceProcess>(
        ServiceProcess::Options{.name = name,
                                .argv = {AgentBinary(), "--listen", listen, "--state-dir",
                                         JoinPath(folder_.path(), name), "--measure=false"},
                                .environment = {{"XDG_CONFIG_HOME", getenv("XDG_CONFIG_HOME")}},
                                .log_file = JoinPath(folder_.path(), name + ".log"),
                                .limits = {}});
    EXPECT_OK(agent->Start());
    return agent;
  }
  static absl::Status Use(const std::string& address, const ProofOptions& proof = {}) {
    SLIPWAY_ASSIGN_OR_RETURN(Session session, Session::Open({.address = address, .proof = proof}));
    SLIPWAY_RETURN_IF_ERROR(session.Facts().status());
    return session.Close();
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("slipway-door");
  std::unique_ptr<ServiceProcess> agent_;
};

TEST_F(AgentDoorTest, ItsOwnUserNeedsNothingAndOthersACopy) {
  const std::string address = agent_->ready_line();
  EXPECT_OK(Use(address));
  const std::string file = *IdentityPath(address, Role::kUser);
  UseHome("of-another");
  EXPECT_THAT(Use(address), StatusIs(Code::kUnauthenticated));
  EXPECT_OK(Use(address, {.identity_file = file}));
}

TEST_F(AgentDoorTest, NobodyElseGetsIn) {
  const std::string address = agent_->ready_line();
  EXPECT_FALSE(Use(address, {.insecure = true}).ok());
  // What another agent has made is of no use here.
  const std::unique_ptr<ServiceProcess> other = Start("other");
  const std::string others = *IdentityPath(other->ready_line(), Role::kUser);
  EXPECT_OK(Use(other->ready_line()));
  EXPECT_THAT(Use(address, {.identity_file = others}), StatusIs(Code::kUnavailable));
}

TEST_F(AgentDoorTest, AnotherStartChangesNothing) {
  const std::string address = agent_->ready_line();
  const std::string file = *IdentityPath(address, Role::kUser);
  const std::string before = *ReadFile(file, 1 << 20);
  ASSERT_OK(agent_->Stop());
  agent_ = Start("agent", address);
  EXPECT_EQ(*ReadFile(file, 1 << 20), before);
  EXPECT_OK(Use(address));
}

}  // namespace
}  // namespace slipway::testing
