// Which calls there are, and who may make them.
#ifndef SLIPWAY_SERVER_SERVICES_ACCESS_H_
#define SLIPWAY_SERVER_SERVICES_ACCESS_H_

#include <array>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/identity/role.h"
#include "server/caller.h"
#include "server/identities/identities.h"

namespace slipway::server {

enum class Rpc {
  kGetServerInfo,
  kCreateCompilation,
  kCreateRun,
  kCreateBenchmark,
  kGetJob,
  kListJobs,
  kWatchJob,
  kCancelJob,
  kListDevices,
  kListWorkers,
  kOpenSession,
  kFindMissing,
  kQueryWrite,
  kWrite,
  kRead,
  kSyncAgent,
  kAttach,
  kSyncWorker,
  kInvite,
  kCreateToken,
  kListIdentities,
  kRevoke,
  kRenew,
};

struct AccessRow {
  Rpc rpc;
  absl::string_view method;  // "package.Service.Method".
  RoleSet roles;             // Any of these is enough.
};

inline constexpr RoleSet kEverybody = {Role::kUser, Role::kAgent, Role::kWorker, Role::kAdmin};

// In the order of Rpc. Each method of each service has a row.
inline constexpr std::array<AccessRow, 23> kAccess = {{
    {Rpc::kGetServerInfo, "slipway.v1.ServerService.GetServerInfo", kEverybody},
    {Rpc::kCreateCompilation, "slipway.v1.CompileService.CreateCompilation", {Role::kUser}},
    {Rpc::kCreateRun, "slipway.v1.RunService.CreateRun", {Role::kUser}},
    {Rpc::kCreateBenchmark, "slipway.v1.RunService.CreateBenchmark", {Role::kUser}},
    {Rpc::kGetJob, "slipway.v1.JobService.GetJob", {Role::kUser, Role::kAdmin}},
    {Rpc::kListJobs, "slipway.v1.JobService.ListJobs", {Role::kUser, Role::kAdmin}},
    {Rpc::kWatchJob, "slipway.v1.JobService.WatchJob", {Role::kUser, Role::kAdmin}},
    {Rpc::kCancelJob, "slipway.v1.JobService.CancelJob", {Role::kUser, Role::kAdmin}},
    {Rpc::kListDevices, "slipway.v1.FleetService.ListDevices", {Role::kUser, Role::kAdmin}},
    {Rpc::kListWorkers, "slipway.v1.FleetService.ListWorkers", {Role::kUser, Role::kAdmin}},
    {Rpc::kOpenSession, "slipway.v1.SessionService.Open", {Role::kUser}},
    // Who knows a blob's digest may have it: nothing lists them.
    {Rpc::kFindMissing, "slipway.v1.BlobService.FindMissing", kEverybody},
    {Rpc::kQueryWrite, "slipway.v1.BlobService.QueryWrite", kEverybody},
    {Rpc::kWrite, "slipway.v1.BlobService.Write", kEverybody},
    {Rpc::kRead, "slipway.v1.BlobService.Read", kEverybody},
    {Rpc::kSyncAgent, "slipway.v1.AgentService.Sync", {Role::kAgent}},
    {Rpc::kAttach, "slipway.v1.AgentService.Attach", {Role::kAgent}},
    {Rpc::kSyncWorker, "slipway.v1.WorkerService.Sync", {Role::kWorker}},
    {Rpc::kInvite, "slipway.v1.IdentityService.Invite", {Role::kAdmin}},
    {Rpc::kCreateToken, "slipway.v1.IdentityService.CreateToken", {Role::kAdmin}},
    {Rpc::kListIdentities, "slipway.v1.IdentityService.ListIdentities", {Role::kAdmin}},
    {Rpc::kRevoke, "slipway.v1.IdentityService.Revoke", {Role::kAdmin}},
    {Rpc::kRenew, "slipway.v1.IdentityService.Renew", kEverybody},
}};

// PERMISSION_DENIED when the caller has none of the roles, which are named.
absl::Status CheckAccess(const Caller& caller, Rpc rpc);

// Whether the caller may report as a peer, a key of names.h. PERMISSION_DENIED, which says what to do:
// - the ids of the server's own workers are theirs alone, and they have no others;
// - who has joined has his name, and what begins with it and a dot (Identities::NameCovering);
// - all others, who are the server's own user, have every id but those.
absl::Status CheckPeer(const Caller& caller, absl::string_view peer, const Identities& identities);
// The same for the id of a device, which an agent reports or speaks for.
absl::Status CheckDevice(const Caller& caller, absl::string_view device,
                         const Identities& identities);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVICES_ACCESS_H_
