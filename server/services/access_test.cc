#include "server/services/access.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/blob.pb.h"
#include "proto/slipway/v1/compile.pb.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/identity.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "proto/slipway/v1/run.pb.h"
#include "proto/slipway/v1/server.pb.h"
#include "proto/slipway/v1/session.pb.h"
#include "proto/slipway/v1/worker.pb.h"
#include "server/names.h"
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
        v1::InviteRequest::descriptor()->file(), v1::CreateRunRequest::descriptor()->file(),
        v1::ServerInfo::descriptor()->file(), v1::SessionRequests::descriptor()->file(),
        v1::WorkerState::descriptor()->file()}) {
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

TEST(AccessTest, NobodyActsForAnother) {
  const auto may = [](Role role, Rpc rpc) {
    return CheckAccess({.owner = "ada", .roles = {role}}, rpc).ok();
  };
  // Users do not answer for agents and workers, nor these for each other, and none of them makes jobs.
  EXPECT_FALSE(may(Role::kUser, Rpc::kSyncAgent));
  EXPECT_FALSE(may(Role::kUser, Rpc::kSyncWorker));
  EXPECT_FALSE(may(Role::kUser, Rpc::kAttach));
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
    EXPECT_TRUE(may(role, Rpc::kRenew));
  }
}

TEST(AccessTest, IdsOfOwnWorkersAreTheirs) {
  const Caller own = {.roles = {Role::kWorker}, .is_own_worker = true};
  const Caller other = {.roles = {Role::kUser, Role::kAgent, Role::kWorker}};
  EXPECT_OK(CheckPeer(own, WorkerKey(LocalWorkerId(0))));
  EXPECT_OK(CheckPeer(other, WorkerKey("builder")));
  EXPECT_OK(CheckPeer(other, AgentKey(LocalWorkerId(0))));
  EXPECT_THAT(CheckPeer(other, WorkerKey(LocalWorkerId(0))),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("give it another one")));
  EXPECT_THAT(CheckPeer(own, WorkerKey("builder")), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(CheckPeer(own, AgentKey("board")), StatusIs(absl::StatusCode::kPermissionDenied));
}

}  // namespace
}  // namespace slipway::server
