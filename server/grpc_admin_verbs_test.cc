// The verbs of an administrator, and a server that he reaches over a unix socket.
#include "server/grpc_admin_verbs.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/base/log.h"
#include "core/identity/certificate.h"
#include "core/identity/join_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/identities/identities.h"
#include "server/server_context.h"
#include "server/server_options.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class AdminVerbsTest : public ::testing::Test {
 protected:
  AdminVerbsTest() {
    ServerOptions options;
    options.listen = "unix:" + JoinPath(folder_.path(), "s");
    options.data_dir = JoinPath(folder_.path(), "data");
    options.cache_dir = JoinPath(folder_.path(), "cache");
    options.workers = 0;
    server_ = *ServerContext::Create(*Complete(options));
  }

  using Verb = absl::Status (*)(absl::Span<const std::string>, AdminOutput);
  absl::Status Run(Verb verb, std::vector<std::string> arguments) {
    std::ostringstream out;
    std::ostringstream err;
    arguments.push_back("--server");
    arguments.push_back(server_->address());
    const absl::Status status = verb(arguments, {out, err});
    out_ = out.str();
    err_ = err.str();
    return status;
  }
  Identities& identities() { return *server_->environment().identities; }
  absl::Status Join(const std::string& code, const std::string& role) {
    return identities()
        .Join(JoinCode::Parse(code)->secret, NewCertificateRequest()->request, role)
        .status();
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Create("admin_verbs");
  std::unique_ptr<ServerContext> server_;
  std::string out_;
  std::string err_;
};

TEST_F(AdminVerbsTest, ACodeStandsAloneAndWhatToDoWithItBesides) {
  ASSERT_OK(Run(InviteVerb, {"user+agent", "ada", "--for", "2d"}));
  EXPECT_THAT(out_, MatchesRegex("[0-9A-Z]{6}(-[0-9A-Z]{6}){5}\n"));
  const std::string code = out_.substr(0, out_.size() - 1);
  EXPECT_THAT(err_, AllOf(HasSubstr("  slipway join HOST:PORT " + code + "\n"),
                          HasSubstr("  slipway-agent join HOST:PORT " + code + "\n"),
                          Not(HasSubstr("worker")), HasSubstr(" UTC")));
  const v1::IdentityRecord record = identities().List("", 10).records.at(0);
  EXPECT_EQ(record.name(), "ada");
  EXPECT_EQ(record.expires_ns() - record.created_ns(), absl::ToInt64Nanoseconds(absl::Hours(48)));
  EXPECT_OK(Join(code, "agent"));
}

TEST_F(AdminVerbsTest, ATokenStandsAlone) {
  ASSERT_OK(Run(TokenVerb, {"user", "ci"}));
  EXPECT_THAT(out_, StartsWith("slipway_"));
  EXPECT_THAT(err_, Not(HasSubstr("slipway_")));
  const auto found = identities().FindToken(out_.substr(0, out_.size() - 1));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->expires_ns() - found->created_ns(),
            absl::ToInt64Nanoseconds(absl::Hours(24 * 90)));
  EXPECT_OK(Run(TokenVerb, {"agent", "page"}));
  EXPECT_THAT(Run(TokenVerb, {"worker", "builder"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("slipwayd invite worker")));
}

TEST_F(AdminVerbsTest, ListsAndRevokes) {
  ASSERT_OK(Run(InviteVerb, {"worker", "builder"}));
  ASSERT_OK(Join(out_.substr(0, out_.size() - 1), "worker"));
  ASSERT_OK(Run(InviteVerb, {"user", "ada"}));
  ASSERT_OK(Run(TokenVerb, {"admin", "ci"}));
  ASSERT_OK(Run(IdentitiesVerb, {}));
  EXPECT_THAT(out_, MatchesRegex("NAME +ROLES +STATE +SINCE +UNTIL +ID\n"
                                 "(.*\n)*ada +user +invited .*\n"
                                 "builder +worker +joined .* UTC +- +[0-9a-f]{16}\n"
                                 "ci +admin +token .*\n(.*\n)*"));
  ASSERT_OK(Run(RevokeVerb, {"builder"}));
  EXPECT_THAT(out_, AllOf(HasSubstr("builder"), HasSubstr("revoked"), Not(HasSubstr("ada"))));
  ASSERT_OK(Run(IdentitiesVerb, {}));
  EXPECT_THAT(out_, MatchesRegex("(.*\n)*builder +worker +revoked .*\n(.*\n)*"));
  EXPECT_THAT(Run(RevokeVerb, {"nobody"}), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(AdminVerbsTest, AnswersProgramsInJson) {
  ASSERT_OK(Run(InviteVerb, {"user", "ada", "--json"}));
  EXPECT_THAT(out_, AllOf(HasSubstr("\"code\": \""), HasSubstr("\"roles\": \"user\""),
                          HasSubstr("\"joined_ns\": null")));
  EXPECT_THAT(err_, IsEmpty());
  ASSERT_OK(Run(TokenVerb, {"user", "ci", "--json"}));
  EXPECT_THAT(out_, HasSubstr("\"token\": \"slipway_"));
  ASSERT_OK(Run(IdentitiesVerb, {"--json"}));
  EXPECT_THAT(out_, AllOf(HasSubstr("\"schema_version\": 1"), HasSubstr("\"name\": \"ada\""),
                          HasSubstr("\"state\": \"token\""), Not(HasSubstr("sha256"))));
  ASSERT_OK(Run(RevokeVerb, {"ada", "--json"}));
  EXPECT_THAT(out_, HasSubstr("\"state\": \"revoked\""));
}

TEST_F(AdminVerbsTest, SetsWhatTheLogShows) {
  ASSERT_OK(Run(LogLevelVerb, {"debug", "--fleet"}));
  EXPECT_EQ(out_, "info\n");
  EXPECT_EQ(CurrentLogLevel(), LogLevel::kDebug);
  ASSERT_OK(Run(LogLevelVerb, {"default", "--json"}));
  EXPECT_THAT(out_, AllOf(HasSubstr("\"schema_version\": 1"), HasSubstr("\"before\": \"debug\"")));
  EXPECT_EQ(CurrentLogLevel(), LogLevel::kInfo);
}

TEST_F(AdminVerbsTest, SaysWhatIsWrongWithACall) {
  struct WrongCall {
    Verb verb;
    std::vector<std::string> arguments;
    const char* why;
  };
  const WrongCall calls[] = {
      {InviteVerb, {"user"}, "slipwayd invite ROLE NAME"},
      {InviteVerb, {"user", "ada", "ben"}, "slipwayd invite ROLE NAME"},
      {InviteVerb, {"king", "ada"}, "ROLE is 'king'"},
      {InviteVerb, {"user+user", "ada"}, "ROLE is"},
      {InviteVerb, {"server", "ada"}, "ROLE is 'server'"},
      {InviteVerb, {"user", "Ada"}, "Ada"},
      {InviteVerb, {"user", "ada", "--for", "31d"}, "lifetime"},
      {InviteVerb, {"user", "ada", "--for", "0d"}, "--for"},
      {InviteVerb, {"user", "ada", "--for", "-1h"}, "--for"},
      {InviteVerb, {"user", "ada", "--for", "99999999999999999999d"}, "--for"},
      {InviteVerb, {"user", "ada", "--for", "inf"}, "--for"},
      {InviteVerb, {"user", "ada", "--nonsense"}, "--nonsense"},
      {TokenVerb, {}, "slipwayd token ROLE NAME"},
      {IdentitiesVerb, {"ada"}, "slipwayd identities"},
      {RevokeVerb, {}, "slipwayd revoke NAME|ID"},
      {LogLevelVerb, {}, "slipwayd loglevel LEVEL"},
      {LogLevelVerb, {"loud"}, "LEVEL: unknown log level"},
  };
  for (const WrongCall& call : calls) {
    EXPECT_THAT(Run(call.verb, call.arguments),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(call.why)))
        << call.why;
    EXPECT_THAT(out_, IsEmpty());
  }
  ASSERT_OK(Run(InviteVerb, {"--help"}));
  EXPECT_THAT(out_, AllOf(HasSubstr("slipwayd invite ROLE NAME"), HasSubstr("--identity")));
}

TEST_F(AdminVerbsTest, SaysThatNobodyServes) {
  server_.reset();
  std::ostringstream out;
  EXPECT_THAT(IdentitiesVerb({"--server", "unix:" + JoinPath(folder_.path(), "none")}, {out, out}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("is slipwayd running there")));
}

}  // namespace
}  // namespace slipway::server
