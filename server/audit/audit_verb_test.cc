#include "server/audit/audit_verb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"
#include "server/audit/audit_entry.h"
#include "server/audit/audit_log.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

class AuditVerbTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("audit-verb-test"));
    ASSERT_OK_AND_ASSIGN(log_,
                         AuditLog::Open(JoinPath(folder_.path(), kAuditFolderName), {}, &clock_));
  }

  absl::Status Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--data-dir", folder_.path()});
    out_.str("");
    err_.str("");
    return AuditVerb(arguments, clock_.Now(), out_, err_);
  }
  std::string Out(std::vector<std::string> arguments = {}) {
    EXPECT_OK(Run(std::move(arguments)));
    return out_.str();
  }

  TemporaryFolder folder_;
  FakeClock clock_;
  std::unique_ptr<AuditLog> log_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(AuditVerbTest, ShowsATableTheOldestFirst) {
  log_->Append({.owner = "ada",
                .address = "ipv4:192.0.2.7:40001",
                .call = "RunService.CreateRun",
                .subject = "01J",
                .outcome = "OK"});
  clock_.Advance(absl::Seconds(1));
  log_->AppendRefusal({.identity = "0123456789abcdef",
                       .address = "unix:",
                       .call = "join",
                       .outcome = "UNAUTHENTICATED",
                       .message = "no"});
  EXPECT_EQ(
      Out(),
      "TIME                     WHO                 FROM                  CALL                  "
      "ABOUT  OUTCOME\n"
      "2026-01-01 00:00:00 UTC  ada                 ipv4:192.0.2.7:40001  RunService.CreateRun  "
      "01J    OK\n"
      "2026-01-01 00:00:01 UTC  (0123456789abcdef)  unix:                 join                  "
      "-      UNAUTHENTICATED: no\n");
}

TEST_F(AuditVerbTest, ShowsWhatIsAskedFor) {
  log_->Append({.owner = "ada", .call = "first"});
  clock_.Advance(absl::Hours(2));
  log_->Append({.owner = "ben", .call = "second"});
  log_->Append({.owner = "ada", .call = "third"});
  clock_.Advance(absl::Hours(1));
  EXPECT_THAT(Out({"--by", "ada"}),
              AllOf(HasSubstr("first"), HasSubstr("third"), Not(HasSubstr("second"))));
  for (const char* since : {"90m", "2026-01-01 01:00:00", "2026-01-01T02:00:00+01:00"}) {
    EXPECT_THAT(Out({"--since", since}),
                AllOf(Not(HasSubstr("first")), HasSubstr("second"), HasSubstr("third")))
        << since;
  }
  EXPECT_THAT(Out({"--since", "1d"}), HasSubstr("first"));
  EXPECT_THAT(Out({"--by", "mallory"}), MatchesRegex("TIME .*\n"));
}

TEST_F(AuditVerbTest, JsonIsAnObjectALine) {
  for (int i = 0; i < 3; ++i) log_->Append({.owner = "ada", .call = "x", .subject = "\x1b[2J\n"});
  const std::string out = Out({"--json"});
  EXPECT_THAT(out, Not(HasSubstr("\x1b")));
  std::vector<std::string> lines = absl::StrSplit(out, '\n');
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines.back(), IsEmpty());
  for (int i = 0; i < 3; ++i) {
    const absl::optional<AuditEntry> entry = ParseAuditLine(lines[static_cast<size_t>(i)]);
    ASSERT_TRUE(entry.has_value());
    EXPECT_EQ(entry->subject, "\x1b[2J\n");
  }
  EXPECT_THAT(Out(), AllOf(Not(HasSubstr("\x1b")), HasSubstr("\\x1b[2J\\x0a")));
}

TEST_F(AuditVerbTest, ManyEntriesHaveTitlesOnce) {
  for (int i = 0; i < 2500; ++i) log_->Append({.owner = "ada", .call = "x"});
  const std::string out = Out();
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2501);
  EXPECT_EQ(out.rfind("TIME"), 0u);
}

TEST_F(AuditVerbTest, DamagedLinesAreNamedAndLeftOut) {
  log_->Append({.call = "before"});
  log_.reset();
  std::ofstream(JoinPath(JoinPath(folder_.path(), kAuditFolderName), AuditFileName(0)),
                std::ios::app)
      << "{ \x1b[2J\n";
  ASSERT_OK_AND_ASSIGN(log_,
                       AuditLog::Open(JoinPath(folder_.path(), kAuditFolderName), {}, &clock_));
  log_->Append({.call = "after"});
  EXPECT_THAT(Out(), AllOf(HasSubstr("before"), HasSubstr("after"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(err_.str(), "slipwayd: audit.jsonl, line 2, is damaged: left out\n");
}

TEST_F(AuditVerbTest, WrongCallsAreToldSo) {
  for (const char* since : {"yesterday", "-1h", "2026-13-01", "1x", "inf", "infinite-past"}) {
    EXPECT_THAT(Run({"--since", since}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--since")))
        << since;
  }
  EXPECT_THAT(Run({"ada"}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'ada'")));
  EXPECT_THAT(Out({"--help"}), HasSubstr("--since"));
  folder_ = *TemporaryFolder::Create("audit-verb-test");
  EXPECT_THAT(Run({}), StatusIs(absl::StatusCode::kNotFound, HasSubstr(folder_.path())));
  EXPECT_THAT(out_.str(), IsEmpty());
}

}  // namespace
}  // namespace slipway::server
