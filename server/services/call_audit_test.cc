#include "server/services/call_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/base/files.h"
#include "server/audit/audit_entry.h"
#include "server/audit/audit_reader.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class CallAuditTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(folder_, TemporaryFolder::Create("call-audit-test"));
    ASSERT_OK_AND_ASSIGN(log_, AuditLog::Open(JoinPath(folder_.path(), "audit"), {}, &clock_));
    audit_ = std::make_unique<CallAudit>(log_.get());
  }

  std::vector<AuditEntry> Entries() const {
    std::vector<AuditEntry> entries;
    EXPECT_OK(ReadAuditLog(JoinPath(folder_.path(), "audit"),
                           {[&](AuditEntry entry) { entries.push_back(std::move(entry)); },
                            [](absl::string_view, int64_t) { ADD_FAILURE(); }}));
    return entries;
  }

  const Caller ada_ = {.owner = "ada",
                       .identity = "0123456789abcdef",
                       .request_id = "r-1",
                       .address = "ipv4:192.0.2.7:1"};
  TemporaryFolder folder_;
  FakeClock clock_;
  std::unique_ptr<AuditLog> log_;
  std::unique_ptr<CallAudit> audit_;
};

TEST_F(CallAuditTest, SaysWhatBecameOfCallsThatChangeSomething) {
  audit_->Tell(ada_, Rpc::kCreateRun, absl::OkStatus(), "01J");
  audit_->Tell(ada_, Rpc::kInvite, absl::InvalidArgumentError("no such role"), "ben");
  const std::vector<AuditEntry> entries = Entries();
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0].owner, "ada");
  EXPECT_EQ(entries[0].identity, ada_.identity);
  EXPECT_EQ(entries[0].address, ada_.address);
  EXPECT_EQ(entries[0].call, "RunService.CreateRun");
  EXPECT_EQ(entries[0].subject, "01J");
  EXPECT_EQ(entries[0].outcome, "OK");
  EXPECT_EQ(entries[0].message, "");
  EXPECT_EQ(entries[0].request_id, "r-1");
  EXPECT_EQ(entries[1].outcome, "INVALID_ARGUMENT");
  EXPECT_EQ(entries[1].message, "no such role");
}

TEST_F(CallAuditTest, OfOthersOnlyWhoWasRefused) {
  audit_->Tell(ada_, Rpc::kListJobs, absl::OkStatus(), "");
  audit_->Tell(ada_, Rpc::kGetJob, absl::NotFoundError("none"), "");
  audit_->TellRefusal(ada_, Rpc::kSyncAgent, absl::OkStatus(), "board");
  audit_->TellRefusal(ada_, Rpc::kSyncAgent, absl::UnavailableError("later"), "board");
  EXPECT_THAT(Entries(), IsEmpty());
  audit_->Tell(ada_, Rpc::kListJobs, absl::PermissionDeniedError("not an admin"), "");
  audit_->TellRefusal({}, Rpc::kRead, absl::UnauthenticatedError("who?"), "");
  const std::vector<AuditEntry> entries = Entries();
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0].call, "JobService.ListJobs");
  EXPECT_EQ(entries[1].owner, "");
  EXPECT_EQ(entries[1].outcome, "UNAUTHENTICATED");
}

TEST_F(CallAuditTest, RefusalsAreBoundedEvenOfAuditedCalls) {
  for (int i = 0; i < 1000; ++i) {
    audit_->Tell(ada_, Rpc::kInvite, absl::PermissionDeniedError("not an admin"), "");
    audit_->TellJoin({.role = "user", .address = "ipv4:192.0.2.8:1"},
                     absl::InvalidArgumentError("garbage"));
  }
  EXPECT_LE(Entries().size(), static_cast<size_t>(RefusalLimit::kMost));
}

TEST_F(CallAuditTest, SaysWhoWasAtTheJoinDoor) {
  audit_->TellJoin({.name = "ada", .identity = "0123456789abcdef", .role = "user", .address = "x"},
                   absl::OkStatus());
  audit_->TellJoin({.role = "root\n", .address = "y"}, absl::UnauthenticatedError("no"));
  const std::vector<AuditEntry> entries = Entries();
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0].call, "join");
  EXPECT_EQ(entries[0].owner, "ada");
  EXPECT_EQ(entries[0].subject, "user");
  EXPECT_EQ(entries[1].owner, "");
  EXPECT_EQ(entries[1].subject, "root\n");
  EXPECT_EQ(entries[1].outcome, "UNAUTHENTICATED");
}

TEST_F(CallAuditTest, SaysWhoFloodedTheServer) {
  audit_->TellFlood("ada", "0123456789abcdef", "ipv4:192.0.2.8:1");
  const std::vector<AuditEntry> entries = Entries();
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].call, "flood");
  EXPECT_EQ(entries[0].owner, "ada");
  EXPECT_EQ(entries[0].identity, "0123456789abcdef");
  EXPECT_EQ(entries[0].outcome, "RESOURCE_EXHAUSTED");
}

}  // namespace
}  // namespace slipway::server
