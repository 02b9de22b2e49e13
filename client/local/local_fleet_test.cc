// With scripts in place of server and agent: what they are told, and that nothing stays.
#include "client/local/local_fleet.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using ::slipway::testing::IsOk;
using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class LocalFleetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("fleet"));
    root_ = JoinPath(folder_.path(), "t");
    ASSERT_THAT(MakeFolders(root_), IsOk());
    setenv("TMPDIR", root_.c_str(), 1);
    options_.server.binary = Script("server",
                                    "echo \"$@\" > {}/server.args; echo $$ > {}/pid;"
                                    "echo ready >&3; exec sleep 100");
    agent_.binary = Script("agent", "echo \"$@\" > {}/agent.args; echo ready >&3; exec sleep 100");
    options_.cache_folder = JoinPath(folder_.path(), "cache");
  }

  // The next test's own folder must not be made in this one's.
  void TearDown() override { unsetenv("TMPDIR"); }

  std::string Script(const std::string& name, std::string body) {
    for (size_t at; (at = body.find("{}")) != std::string::npos;) {
      body.replace(at, 2, folder_.path());
    }
    const std::string path = JoinPath(folder_.path(), name);
    EXPECT_THAT(WriteFileAtomically(path, absl::StrCat("#!/bin/sh\n", body, "\n"), false), IsOk());
    EXPECT_EQ(chmod(path.c_str(), 0755), 0);
    return path;
  }

  std::string Contents(const std::string& name) {
    const auto contents = ReadFile(JoinPath(folder_.path(), name), 10000);
    return contents.ok() ? *contents : contents.status().ToString();
  }

  bool RootIsEmpty() { return rmdir(root_.c_str()) == 0 && mkdir(root_.c_str(), 0700) == 0; }

  TemporaryFolder folder_;
  std::string root_;
  LocalFleetOptions options_;
  LocalProgram agent_;
};

TEST_F(LocalFleetTest, StartsBothAndTakesThemDown) {
  {
    ASSERT_OK_AND_ASSIGN(const auto fleet, LocalFleet::Start(options_));
    EXPECT_TRUE(absl::StartsWith(fleet->address(), "unix:" + root_));
    EXPECT_THAT(Contents("server.args"),
                AllOf(HasSubstr("--listen=" + fleet->address()),
                      HasSubstr("--blob-dir=" + options_.cache_folder + "/blobs")));
    EXPECT_THAT(fleet->StartAgent(agent_), IsOk());
    EXPECT_THAT(fleet->StartAgent(agent_), IsOk());
    EXPECT_THAT(Contents("agent.args"),
                AllOf(HasSubstr("--server=" + fleet->address()), HasSubstr("--id=local")));
  }
  pid_t pid = 0;
  ASSERT_TRUE(absl::SimpleAtoi(Contents("pid"), &pid));
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_TRUE(RootIsEmpty());
}

TEST_F(LocalFleetTest, EachHasFlagsOfItsOwn) {
  options_.server.config = "/etc/of server";
  agent_.config = "/etc/of agent";
  ASSERT_OK_AND_ASSIGN(const auto fleet, LocalFleet::Start(options_));
  EXPECT_THAT(fleet->StartAgent(agent_), IsOk());
  EXPECT_THAT(Contents("server.args"), HasSubstr("--config=/etc/of server"));
  EXPECT_THAT(Contents("agent.args"), HasSubstr("--config=/etc/of agent"));
}

TEST_F(LocalFleetTest, TwoAtATimeHaveFoldersOfTheirOwn) {
  ASSERT_OK_AND_ASSIGN(const auto first, LocalFleet::Start(options_));
  ASSERT_OK_AND_ASSIGN(const auto second, LocalFleet::Start(options_));
  EXPECT_NE(first->address(), second->address());
  EXPECT_THAT(first->StartAgent(agent_), IsOk());
}

TEST_F(LocalFleetTest, LeftoversOfKilledCommandsAreRemoved) {
  const std::string left = JoinPath(root_, "slipway-local-abc");
  ASSERT_THAT(MakeFolders(left), IsOk());
  ASSERT_THAT(WriteFileAtomically(JoinPath(left, "lock"), "", false), IsOk());
  { ASSERT_THAT(LocalFleet::Start(options_), IsOk()); }
  EXPECT_TRUE(RootIsEmpty());
}

TEST_F(LocalFleetTest, ServerThatDoesNotStartSaysWhy) {
  options_.server.binary = Script("server", "echo 'cannot open the database' >&2; exit 1");
  EXPECT_THAT(LocalFleet::Start(options_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("slipwayd"), HasSubstr("cannot open the database"))));
  EXPECT_TRUE(RootIsEmpty());
}

}  // namespace
}  // namespace slipway
