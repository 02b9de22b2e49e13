#include "server/services/access.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/identity/certificate.h"
#include "core/identity/certificate_authority.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/grpc/health/v1/health.pb.h"
#include "proto/grpc/reflection/v1alpha/reflection.pb.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/blob.pb.h"
#include "proto/slipway/v1/compile.pb.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/history.pb.h"
#include "proto/slipway/v1/identity.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "proto/slipway/v1/queue.pb.h"
#include "proto/slipway/v1/run.pb.h"
#include "proto/slipway/v1/server.pb.h"
#include "proto/slipway/v1/session.pb.h"
#include "proto/slipway/v1/worker.pb.h"
#include "server/identities/identities.h"
#include "server/names.h"
#include "server/storage/memory_store.h"
#include "tests/common/fake_clock.h"
#include "tests/common/status_matchers.h"

namespace slipway::server {
namespace {

using ::slipway::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Role kRoles[] = {Role::kUser, Role::kAgent, Role::kWorker, Role::kAdmin, Role::kServer};

std::set<std::string> Methods() {
  std::set<std::string> methods;
  for (const google::protobuf::FileDescriptor* file :
       {v1::AgentState::descriptor()->file(), v1::FindMissingRequest::descriptor()->file(),
        v1::CreateCompilationRequest::descriptor()->file(),
        v1::ListDevicesRequest::descriptor()->file(), v1::GetJobRequest::descriptor()->file(),
        v1::InviteRequest::descriptor()->file(), v1::HistoryEntry::descriptor()->file(),
        v1::ListQueueRequest::descriptor()->file(), v1::CreateRunRequest::descriptor()->file(),
        v1::ServerInfo::descriptor()->file(), v1::SessionRequests::descriptor()->file(),
        v1::WorkerState::descriptor()->file(),
        grpc::health::v1::HealthCheckRequest::descriptor()->file(),
        grpc::reflection::v1alpha::ServerReflectionRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        methods.insert(file->service(s)->method(m)->full_name());
      }
    }
  }
  return methods;
}

TEST(AccessTest, EveryMethodHasARow) {
  std::set<std::string> rows;
  for (const AccessRow& row : kAccess) rows.insert(std::string(row.method));
  EXPECT_EQ(rows.size(), kAccess.size());
  EXPECT_EQ(rows, Methods());
}

TEST(AccessTest, EveryRoleThatIsNotNamedIsRefused) {
  for (const AccessRow& row : kAccess) {
    EXPECT_FALSE(row.roles.empty()) << row.method;
    for (const Role role : kRoles) {
      const absl::Status status = CheckAccess({.owner = "ada", .roles = {role}}, row.rpc);
      if (row.roles.Has(role)) {
        EXPECT_OK(status) << row.method;
      } else {
        EXPECT_THAT(status, StatusIs(absl::StatusCode::kPermissionDenied,
                                     AllOf(HasSubstr("'ada'"), HasSubstr(std::string(row.method)))))
            << RoleName(role);
      }
    }
    EXPECT_THAT(CheckAccess({.owner = "ada"}, row.rpc),
                StatusIs(absl::StatusCode::kPermissionDenied));
  }
}

// What a call can do that is not in the audit log, nobody finds out afterwards.
TEST(AccessTest, WhatChangesSomethingIsAudited) {
  std::vector<std::string> others;
  for (const AccessRow& row : kAccess) {
    if (!row.audited) others.push_back(std::string(row.method.substr(row.method.rfind('.') + 1)));
  }
  // Reads, blobs, which are named by their contents, and the agent's end of a session that is audited, with what it asks about
  // its programs.
  EXPECT_THAT(others, ::testing::UnorderedElementsAre(
                          "GetServerInfo", "GetJob", "ListJobs", "WatchJob", "ListDevices",
                          "ListWorkers", "FindMissing", "QueryWrite", "Write", "Read", "Attach",
                          "Vouch", "ListIdentities", "ListHistory", "GetHistoryEntry", "GetRecord",
                          "GetServerStatus", "Check", "Watch", "ServerReflectionInfo", "ListQueue",
                          "ListReservations", "ListAgentOffers"));
}

TEST(AccessTest, NobodyActsForAnother) {
  const auto may = [](Role role, Rpc rpc) {
    return CheckAccess({.owner = "ada", .roles = {role}}, rpc).ok();
  };
  // Users do not answer for agents and workers, nor these for each other, and none of them makes jobs.
  EXPECT_FALSE(may(Role::kUser, Rpc::kSyncAgent));
  EXPECT_FALSE(may(Role::kUser, Rpc::kSyncWorker));
  EXPECT_FALSE(may(Role::kUser, Rpc::kAttach));
  EXPECT_FALSE(may(Role::kUser, Rpc::kVouch));
  EXPECT_FALSE(may(Role::kAgent, Rpc::kSyncWorker));
  EXPECT_FALSE(may(Role::kWorker, Rpc::kSyncAgent));
  EXPECT_FALSE(may(Role::kAgent, Rpc::kCreateRun));
  EXPECT_FALSE(may(Role::kWorker, Rpc::kOpenSession));
  // Nor does anybody let others in or shut them out, but administrators.
  for (const Role role : {Role::kUser, Role::kAgent, Role::kWorker}) {
    EXPECT_FALSE(may(role, Rpc::kInvite));
    EXPECT_FALSE(may(role, Rpc::kCreateToken));
    EXPECT_FALSE(may(role, Rpc::kListIdentities));
    EXPECT_FALSE(may(role, Rpc::kRevoke));
    // Nor keeps devices from work.
    EXPECT_FALSE(may(role, Rpc::kSetAvailability));
    // Nor says what agents are.
    EXPECT_FALSE(may(role, Rpc::kOfferAgent));
    EXPECT_FALSE(may(role, Rpc::kWithdrawAgentOffer));
    EXPECT_TRUE(may(role, Rpc::kRenew));
  }
}

class PeerIdsTest : public ::testing::Test {
 protected:
  void Join(const std::string& name, RoleSet roles, const std::string& as) {
    const std::string secret = identities_->Invite(name, roles, absl::ZeroDuration())->code.secret;
    ASSERT_OK(identities_->Join(secret, NewCertificateRequest()->request, as));
  }
  absl::Status Peer(const Caller& caller, const std::string& key) {
    return CheckPeer(caller, key, *identities_);
  }
  absl::Status Device(const Caller& caller, const std::string& id) {
    return CheckDevice(caller, id, *identities_);
  }

  FakeClock clock_;
  MemoryDatabase database_;
  MemoryStore store_{&database_};
  const std::unique_ptr<CertificateAuthority> authority_ =
      *CertificateAuthority::Create(clock_.Now());
  const std::unique_ptr<Identities> identities_ =
      *Identities::Create(&store_, authority_.get(), &clock_);
  const Caller own_user_ = {
      .owner = "local", .roles = {Role::kAgent, Role::kWorker}, .is_own_user = true};
  const Caller ada_ = {
      .owner = "ada", .roles = {Role::kAgent, Role::kWorker}, .identity = "0123456789abcdef"};
};

TEST_F(PeerIdsTest, IdsOfOwnWorkersAreTheirs) {
  const Caller own = {.roles = {Role::kWorker}, .is_own_worker = true};
  EXPECT_OK(Peer(own, WorkerKey(LocalWorkerId(0))));
  EXPECT_OK(Peer(own_user_, WorkerKey("builder")));
  EXPECT_OK(Peer(own_user_, AgentKey(LocalWorkerId(0))));
  EXPECT_THAT(Peer(own_user_, WorkerKey(LocalWorkerId(0))),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("give it another one")));
  EXPECT_THAT(Peer(own, WorkerKey("builder")), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(Peer(own, AgentKey("board")), StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(PeerIdsTest, WhoHasJoinedHasHisNameAlone) {
  for (const char* id : {"ada", "ada.", "ada.camera", "ada.a.b"}) {
    EXPECT_OK(Peer(ada_, AgentKey(id))) << id;
    EXPECT_OK(Peer(ada_, WorkerKey(id))) << id;
    EXPECT_OK(Device(ada_, id)) << id;
  }
  for (const char* id : {"", "ad", "adam", "ada-1", "board", "board.ada", "local"}) {
    EXPECT_THAT(Peer(ada_, AgentKey(id)),
                StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("'ada' (--id)")))
        << id;
    EXPECT_THAT(Device(ada_, id), StatusIs(absl::StatusCode::kPermissionDenied)) << id;
  }
  EXPECT_THAT(Peer(ada_, WorkerKey(LocalWorkerId(0))),
              StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(PeerIdsTest, TheServersUserHasAllOtherIds) {
  EXPECT_OK(Peer(own_user_, AgentKey("board.1")));
  EXPECT_OK(Device(own_user_, "board.1"));
  Join("board", {Role::kAgent}, "agent");
  Join("bob", {Role::kUser}, "user");
  for (const char* id : {"board", "board.1"}) {
    EXPECT_THAT(Peer(own_user_, AgentKey(id)),
                StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("slipwayd revoke board")))
        << id;
    EXPECT_THAT(Device(own_user_, id), StatusIs(absl::StatusCode::kPermissionDenied)) << id;
  }
  // An identity of the server's own for that user is him.
  Caller by_certificate = own_user_;
  by_certificate.identity = "0123456789abcdee";
  for (const Caller& caller : {own_user_, by_certificate}) {
    EXPECT_OK(Peer(caller, AgentKey("boards")));
    EXPECT_OK(Peer(caller, AgentKey("bob")));  // He is a user, and no peer.
    EXPECT_THAT(Device(caller, "board"), StatusIs(absl::StatusCode::kPermissionDenied));
  }
  ASSERT_OK(identities_->Revoke("board"));
  EXPECT_OK(Peer(own_user_, AgentKey("board")));
}

}  // namespace
}  // namespace slipway::server
