// A server on a port, and people who do not know each other: who may do what, with real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/artifact/slip_file.h"
#include "core/runtime/test_programs/test_programs.h"
#include "tests/common/cluster.h"
#include "tests/common/command.h"
#include "tests/common/status_matchers.h"

namespace slipway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class JoiningTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> server_flags = {}, int agents = 1) {
    ASSERT_OK_AND_ASSIGN(
        cluster_,
        Cluster::Start({.agents = agents, .server_flags = std::move(server_flags), .tcp = true}));
  }

  // Runs a program as a user of this name, who has files of his own; "" is who has started the server.
  CommandResult Run(const std::string& user, std::vector<std::string> argv) const {
    CommandOptions options;
    options.argv = std::move(argv);
    options.environment = cluster_->environment();
    options.environment.emplace_back("SLIPWAY_SERVER", cluster_->address());
    if (!user.empty()) {
      for (auto& [name, value] : options.environment) {
        if (name == "XDG_CONFIG_HOME") value = cluster_->Path(absl::StrCat("home/of-", user));
      }
    }
    return RunCommand(options);
  }
  CommandResult Slipway(const std::string& user, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), CommandBinary());
    return Run(user, std::move(arguments));
  }
  // A verb of slipwayd.
  CommandResult Administer(const std::string& user, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), ServerBinary());
    arguments.insert(arguments.end(), {"--server", cluster_->address()});
    return Run(user, std::move(arguments));
  }
  std::string Invite(const std::string& role, const std::string& name) const {
    const CommandResult invited = Administer("", {"invite", role, name});
    EXPECT_TRUE(invited.status.ok()) << invited.ToString();
    return std::string(absl::StripAsciiWhitespace(invited.out));
  }
  void Join(const std::string& user, const std::string& name) const {
    const CommandResult joined = Slipway(user, {"join", cluster_->address(), Invite("user", name)});
    ASSERT_TRUE(joined.status.ok()) << joined.ToString();
  }

  std::unique_ptr<Cluster> cluster_;
};

void ExpectRefused(const CommandResult& result, const std::string& why) {
  EXPECT_FALSE(result.status.ok()) << result.ToString();
  EXPECT_THAT(result.err, HasSubstr(why));
}

TEST_F(JoiningTest, InitMakesWhatTheFirstStartWould) {
  ASSERT_OK_AND_ASSIGN(cluster_, Cluster::Create({.agents = 0, .tcp = true}));
  const std::vector<std::string> init = {ServerBinary(), "init", "--data-dir",
                                         cluster_->data_folder()};
  const CommandResult made = RunCommand({.argv = init});
  ASSERT_TRUE(made.status.ok()) << made.ToString();
  EXPECT_THAT(made.err, AllOf(HasSubstr("slipwayd invite"), HasSubstr(cluster_->data_folder())));
  const std::string fingerprint(absl::StripAsciiWhitespace(made.out));
  EXPECT_EQ(RunCommand({.argv = init}).out, made.out);
  ASSERT_OK(cluster_->server().Start());
  // Codes end with it.
  const CommandResult token = Run(
      "", {ServerBinary(), "token", "user", "robot", "--server", cluster_->server().ready_line()});
  EXPECT_THAT(std::string(absl::StripAsciiWhitespace(token.out)),
              ::testing::EndsWith("." + fingerprint));
  EXPECT_FALSE(RunCommand({.argv = init}).status.ok());
}

TEST_F(JoiningTest, WhoHasStartedTheServerNeedsNothing) {
  Start();
  const CommandResult devices = Slipway("", {"devices"});
  EXPECT_TRUE(devices.status.ok()) << devices.ToString();
  EXPECT_THAT(devices.out, HasSubstr("agent0"));
  // A restart makes nobody join again.
  cluster_->server().Kill();
  ASSERT_OK(cluster_->server().Start());
  EXPECT_TRUE(Slipway("", {"devices"}).status.ok());
}

TEST_F(JoiningTest, StrangersAreToldHowToJoinAndNothingElse) {
  Start();
  ExpectRefused(Slipway("nobody", {"devices"}), "slipway join");
  ExpectRefused(Slipway("nobody", {"devices", "--insecure"}), "wants TLS");
  ExpectRefused(Administer("nobody", {"identities"}), "slipwayd join");
  // With the identity of another server of the same address.
  const std::string file = cluster_->Path("home/config/slipway/servers");
  cluster_->server().Kill();
  ASSERT_EQ(rename(cluster_->data_folder().c_str(), cluster_->Path("old-server").c_str()), 0);
  ASSERT_EQ(rename(file.c_str(), cluster_->Path("home/old").c_str()), 0);
  ASSERT_OK(cluster_->server().Start());
  ExpectRefused(
      Slipway("", {"devices", "--identity",
                   absl::StrCat(cluster_->Path("home/old/"), cluster_->address(), "/user.pem")}),
      "not the server");
}

TEST_F(JoiningTest, ACodeIsGoodOnce) {
  Start();
  const std::string code = Invite("user", "ada");
  // In another program it is not spent.
  ExpectRefused(Run("ada", {AgentBinary(), "join", cluster_->address(), code}), "slipway join");
  const CommandResult joined =
      Slipway("ada", {"join", cluster_->address(), absl::AsciiStrToLower(code)});
  EXPECT_TRUE(joined.status.ok()) << joined.ToString();
  EXPECT_THAT(joined.out, HasSubstr("\"ada\""));
  EXPECT_TRUE(Slipway("ada", {"devices"}).status.ok());
  ExpectRefused(Slipway("ben", {"join", cluster_->address(), code}), "no longer, valid");
  ExpectRefused(Slipway("ben", {"join", cluster_->address(), "AAAAAA-BBBBBB"}), "code");
  ExpectRefused(Slipway("ben", {"devices"}), "slipway join");
}

TEST_F(JoiningTest, UsersSeeTheirOwnAndAdministerNothing) {
  Start();
  Join("ada", "ada");
  Join("ben", "ben");
  const CommandResult made = Slipway("ada", {"lease", "take", "--device", "agent0"});
  ASSERT_TRUE(made.status.ok()) << made.ToString();
  const CommandResult own = Slipway("ada", {"jobs", "--json"});
  EXPECT_THAT(own.out, HasSubstr("\"id\""));
  EXPECT_THAT(Slipway("ben", {"jobs", "--json"}).out, Not(HasSubstr("\"id\"")));
  ExpectRefused(Slipway("ben", {"jobs", "--all"}), "admin");
  // Who has started the server is an administrator, by another identity.
  const std::string admin = absl::StrCat(cluster_->Path("home/config/slipway/servers/"),
                                         cluster_->address(), "/admin.pem");
  const CommandResult all = Slipway("", {"jobs", "--all", "--identity", admin});
  EXPECT_TRUE(all.status.ok()) << all.ToString();
  EXPECT_THAT(all.out, HasSubstr("ada"));
  // Roles are looked at with each call.
  const std::string user = absl::StrCat(cluster_->Path("home/of-ada/slipway/servers/"),
                                        cluster_->address(), "/user.pem");
  ExpectRefused(Administer("ada", {"invite", "admin", "mallory", "--identity", user}), "admin");
  ExpectRefused(Administer("ada", {"identities", "--identity", user}), "admin");
}

TEST_F(JoiningTest, AnAgentIsWhoItWasInvitedAs) {
  Start();
  const std::string code = Invite("agent", "board-7");
  const CommandResult joined = Run("board", {AgentBinary(), "join", cluster_->address(), code});
  ASSERT_TRUE(joined.status.ok()) << joined.ToString();
  ServiceProcess::Options options{.name = "board-7",
                                  .argv = {AgentBinary(), "--server", cluster_->address(),
                                           "--state-dir", cluster_->Path("board"), "--no-measure"},
                                  .environment = cluster_->environment(),
                                  .log_file = cluster_->Path("board.log")};
  for (auto& [name, value] : options.environment) {
    if (name == "XDG_CONFIG_HOME") value = cluster_->Path("home/of-board");
  }
  ServiceProcess agent(options);
  ASSERT_OK(agent.Start());
  EXPECT_THAT(Slipway("", {"devices"}).out, AllOf(HasSubstr("agent0"), HasSubstr("board-7")));
  agent.Kill();
  // Under the name of another it is not taken, and says so.
  agent.options().argv.insert(agent.options().argv.end(), {"--id", "agent0"});
  agent.options().argv[4] = cluster_->Path("other-board");
  agent.options().ready_within = absl::Seconds(3);
  EXPECT_FALSE(agent.Start().ok());
  EXPECT_THAT(agent.Log(), HasSubstr("agent0"));
}

TEST_F(JoiningTest, WhoIsRevokedIsOut) {
  Start();
  Join("ada", "ada");
  ASSERT_TRUE(Slipway("ada", {"devices"}).status.ok());
  const CommandResult listed = Administer("", {"identities"});
  EXPECT_THAT(listed.out, HasSubstr("ada"));
  const CommandResult revoked = Administer("", {"revoke", "ada"});
  ASSERT_TRUE(revoked.status.ok()) << revoked.ToString();
  ExpectRefused(Slipway("ada", {"devices"}), "revoked");
  // Others are not: they come again.
  EXPECT_TRUE(Slipway("", {"devices"}).status.ok());
  // Who is invited again is in again.
  Join("ada", "ada");
  EXPECT_TRUE(Slipway("ada", {"devices"}).status.ok());
}

// Whether there is a line that has all the words.
bool HasLine(absl::string_view text, const std::vector<std::string>& words) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (std::all_of(words.begin(), words.end(),
                    [line](const std::string& word) { return absl::StrContains(line, word); })) {
      return true;
    }
  }
  return false;
}

TEST_F(JoiningTest, TheAuditLogSaysWhoDidWhat) {
  Start();
  const std::string code = Invite("user", "ada");
  ASSERT_TRUE(Slipway("ada", {"join", cluster_->address(), code}).status.ok());
  ExpectRefused(Slipway("ben", {"join", cluster_->address(), code}), "no longer, valid");
  const std::string identity = absl::StrCat(cluster_->Path("home/of-ada/slipway/servers/"),
                                            cluster_->address(), "/user.pem");
  ExpectRefused(Administer("ada", {"invite", "admin", "mallory", "--identity", identity}), "admin");
  const std::string program = cluster_->Path("add.slip");
  ASSERT_OK(WriteSlip(TestProgram(TestKernel::kAdd), program));
  // It is accepted, whatever becomes of it: a runner's memory is too little for sanitizers.
  Slipway("ada", {"run", program});
  ASSERT_TRUE(Slipway("ada", {"devices"}).status.ok());
  ASSERT_TRUE(Slipway("ada", {"lease", "take", "--device", "agent0"}).status.ok());
  ASSERT_TRUE(Administer("", {"revoke", "ada"}).status.ok());

  std::vector<std::string> audit = {ServerBinary(), "audit", "--data-dir", cluster_->data_folder()};
  const CommandResult shown = Run("", audit);
  ASSERT_TRUE(shown.status.ok()) << shown.ToString();
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"AgentService.Sync", "agent0", "OK"},
           {"local", "127.0.0.1:", "IdentityService.Invite", "ada as user", "OK"},
           {"ada", "127.0.0.1:", "join", "user", "OK"},
           {"-", "127.0.0.1:", "join", "UNAUTHENTICATED"},
           {"ada", "127.0.0.1:", "IdentityService.Invite", "PERMISSION_DENIED", "admin"},
           {"ada", "127.0.0.1:", "RunService.CreateRun", "OK"},
           {"ada", "127.0.0.1:", "SessionService.Open", "on agent0", "OK"},
           {"local", "127.0.0.1:", "IdentityService.Revoke", "ada", "OK"}}) {
    EXPECT_TRUE(HasLine(shown.out, words)) << absl::StrJoin(words, " ") << " in\n" << shown.out;
  }
  EXPECT_THAT(shown.out, AllOf(Not(HasSubstr("ListDevices")), Not(HasSubstr(code))));
  // It is there without the server, too.
  cluster_->server().Kill();
  EXPECT_THAT(Run("", audit).out, HasSubstr("RunService.CreateRun"));
  audit.insert(audit.end(), {"--by", "ada", "--json"});
  const CommandResult hers = Run("", audit);
  EXPECT_THAT(hers.out, AllOf(HasSubstr("\"call\": \"RunService.CreateRun\""),
                              Not(HasSubstr("IdentityService.Revoke"))));
}

TEST_F(JoiningTest, TokensAreTakenWhereTheServerSaysSo) {
  Start({"--accept-tokens"});
  const CommandResult made = Administer("", {"token", "user", "robot"});
  ASSERT_TRUE(made.status.ok()) << made.ToString();
  const std::string file = cluster_->Path("token");
  std::ofstream(file) << made.out;
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  EXPECT_TRUE(Slipway("robot", {"devices", "--token-file", file}).status.ok());
  // Another server's is sent to nobody.
  const std::string token(absl::StripAsciiWhitespace(made.out));
  std::ofstream(file) << token.substr(0, token.size() - 20) << "AAAAAAAAAAAAAAAAAAAA\n";
  ExpectRefused(Slipway("robot", {"devices", "--token-file", file}), "nothing was sent");
}

}  // namespace
}  // namespace slipway::testing
