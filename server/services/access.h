// Which calls there are, and who may make them.
#ifndef SLIPWAY_SERVER_SERVICES_ACCESS_H_
#define SLIPWAY_SERVER_SERVICES_ACCESS_H_

#include <array>
#include <cstddef>

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
  kVouch,
  kSetDeviceLabels,
  kListHistory,
  kGetHistoryEntry,
  kGetRecord,
  kGetServerStatus,
  kCheckHealth,
  kWatchHealth,
  kReflect,
  kSetLogLevel,
  kListQueue,
  kReserve,
  kListReservations,
  kUnreserve,
  kSetAvailability,
  kOfferAgent,
  kListAgentOffers,
  kWithdrawAgentOffer,
};

struct AccessRow {
  Rpc rpc;
  absl::string_view method;  // "package.Service.Method".
  RoleSet roles;             // Any of these is enough.
  // Whether the audit log says of each call what became of it: of those that change something. It says of all calls who was
  // refused (call_audit.h).
  bool audited;
};

inline constexpr RoleSet kEverybody = {Role::kUser, Role::kAgent, Role::kWorker, Role::kAdmin};

// What AccessRow::audited is called in the table. Of sessions those that begin are audited, of Sync the first call of an instance.
inline constexpr bool kAudited = true;
inline constexpr bool kNotAudited = false;

// In the order of Rpc. Each method of each service has a row.
inline constexpr std::array<AccessRow, 41> kAccess = {{
    {Rpc::kGetServerInfo, "slipway.v1.ServerService.GetServerInfo", kEverybody, kNotAudited},
    {Rpc::kCreateCompilation,
     "slipway.v1.CompileService.CreateCompilation",
     {Role::kUser},
     kAudited},
    {Rpc::kCreateRun, "slipway.v1.RunService.CreateRun", {Role::kUser}, kAudited},
    {Rpc::kCreateBenchmark, "slipway.v1.RunService.CreateBenchmark", {Role::kUser}, kAudited},
    {Rpc::kGetJob, "slipway.v1.JobService.GetJob", {Role::kUser, Role::kAdmin}, kNotAudited},
    {Rpc::kListJobs, "slipway.v1.JobService.ListJobs", {Role::kUser, Role::kAdmin}, kNotAudited},
    {Rpc::kWatchJob, "slipway.v1.JobService.WatchJob", {Role::kUser, Role::kAdmin}, kNotAudited},
    {Rpc::kCancelJob, "slipway.v1.JobService.CancelJob", {Role::kUser, Role::kAdmin}, kAudited},
    {Rpc::kListDevices,
     "slipway.v1.FleetService.ListDevices",
     {Role::kUser, Role::kAdmin},
     kNotAudited},
    {Rpc::kListWorkers,
     "slipway.v1.FleetService.ListWorkers",
     {Role::kUser, Role::kAdmin},
     kNotAudited},
    {Rpc::kOpenSession, "slipway.v1.SessionService.Open", {Role::kUser}, kAudited},
    // Who knows a blob's digest may have it: nothing lists them.
    {Rpc::kFindMissing, "slipway.v1.BlobService.FindMissing", kEverybody, kNotAudited},
    {Rpc::kQueryWrite, "slipway.v1.BlobService.QueryWrite", kEverybody, kNotAudited},
    {Rpc::kWrite, "slipway.v1.BlobService.Write", kEverybody, kNotAudited},
    {Rpc::kRead, "slipway.v1.BlobService.Read", kEverybody, kNotAudited},
    {Rpc::kSyncAgent, "slipway.v1.AgentService.Sync", {Role::kAgent}, kAudited},
    {Rpc::kAttach, "slipway.v1.AgentService.Attach", {Role::kAgent}, kNotAudited},
    {Rpc::kSyncWorker, "slipway.v1.WorkerService.Sync", {Role::kWorker}, kAudited},
    {Rpc::kInvite, "slipway.v1.IdentityService.Invite", {Role::kAdmin}, kAudited},
    {Rpc::kCreateToken, "slipway.v1.IdentityService.CreateToken", {Role::kAdmin}, kAudited},
    {Rpc::kListIdentities,
     "slipway.v1.IdentityService.ListIdentities",
     {Role::kAdmin},
     kNotAudited},
    {Rpc::kRevoke, "slipway.v1.IdentityService.Revoke", {Role::kAdmin}, kAudited},
    {Rpc::kRenew, "slipway.v1.IdentityService.Renew", kEverybody, kAudited},
    {Rpc::kVouch, "slipway.v1.AgentService.Vouch", {Role::kAgent}, kNotAudited},
    {Rpc::kSetDeviceLabels, "slipway.v1.FleetService.SetDeviceLabels", {Role::kAdmin}, kAudited},
    {Rpc::kListHistory,
     "slipway.v1.HistoryService.ListHistory",
     {Role::kUser, Role::kAdmin},
     kNotAudited},
    {Rpc::kGetHistoryEntry,
     "slipway.v1.HistoryService.GetHistoryEntry",
     {Role::kUser, Role::kAdmin},
     kNotAudited},
    {Rpc::kGetRecord,
     "slipway.v1.HistoryService.GetRecord",
     {Role::kUser, Role::kAdmin},
     kNotAudited},
    // Sums, for who waits as well as for who operates it.
    {Rpc::kGetServerStatus,
     "slipway.v1.ServerService.GetServerStatus",
     {Role::kUser, Role::kAdmin},
     kNotAudited},
    {Rpc::kCheckHealth, "grpc.health.v1.Health.Check", kEverybody, kNotAudited},
    {Rpc::kWatchHealth, "grpc.health.v1.Health.Watch", kEverybody, kNotAudited},
    // What it tells is in proto/ of this repository, too.
    {Rpc::kReflect,
     "grpc.reflection.v1alpha.ServerReflection.ServerReflectionInfo",
     {Role::kUser, Role::kAdmin},
     kNotAudited},
    {Rpc::kSetLogLevel, "slipway.v1.ServerService.SetLogLevel", {Role::kAdmin}, kAudited},
    {Rpc::kListQueue,
     "slipway.v1.QueueService.ListQueue",
     {Role::kUser, Role::kAdmin},
     kNotAudited},
    {Rpc::kReserve, "slipway.v1.QueueService.Reserve", {Role::kUser}, kAudited},
    {Rpc::kListReservations,
     "slipway.v1.QueueService.ListReservations",
     {Role::kUser, Role::kAdmin},
     kNotAudited},
    {Rpc::kUnreserve, "slipway.v1.QueueService.Unreserve", {Role::kUser, Role::kAdmin}, kAudited},
    {Rpc::kSetAvailability, "slipway.v1.QueueService.SetAvailability", {Role::kAdmin}, kAudited},
    {Rpc::kOfferAgent, "slipway.v1.FleetService.OfferAgent", {Role::kAdmin}, kAudited},
    {Rpc::kListAgentOffers,
     "slipway.v1.FleetService.ListAgentOffers",
     {Role::kUser, Role::kAdmin},
     kNotAudited},
    {Rpc::kWithdrawAgentOffer,
     "slipway.v1.FleetService.WithdrawAgentOffer",
     {Role::kAdmin},
     kAudited},
}};

constexpr const AccessRow& RowOf(Rpc rpc) { return kAccess[static_cast<size_t>(rpc)]; }

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
