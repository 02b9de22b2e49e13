#include "server/handlers/status.h"

#include <sys/statvfs.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/descriptor_limit.h"
#include "core/base/log.h"
#include "core/base/own_process.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"

namespace slipway::server {
namespace {

void AddRefusal(v1::ServerRefusal::Cause cause, std::string message, v1::ServerStatus* status) {
  v1::ServerRefusal& refusal = *status->add_refusals();
  refusal.set_cause(cause);
  refusal.set_message(std::move(message));
}

// What this process may still write where the folder lies; 0 where that cannot be told.
int64_t FreeBytes(const std::string& folder) {
  struct statvfs found = {};
  if (statvfs(folder.c_str(), &found) != 0) return 0;
  return static_cast<int64_t>(found.f_bavail) * static_cast<int64_t>(found.f_frsize);
}

}  // namespace

absl::Status GetServerStatus(const Environment& env, const FrontSums& front,
                             v1::ServerStatus* response) {
  response->set_version(kVersion);
  response->set_instance_id(env.instance_id);
  response->set_uptime_ns(absl::ToInt64Nanoseconds(env.clock->Monotonic() - env.began));
  if (const absl::Status may = env.memory->MayBegin(); !may.ok()) {
    AddRefusal(v1::ServerRefusal::MEMORY, std::string(may.message()), response);
  }
  env.dispatcher->AddStatus(response);
  if (front.max_connections > 0 && front.connections.held >= front.max_connections) {
    AddRefusal(v1::ServerRefusal::CONNECTIONS,
               absl::StrCat(front.connections.held,
                            " connections are open, as many as are let in: --max-connections of "
                            "the server and `ulimit -Hn` allow more"),
               response);
  }
  response->set_memory_bytes(env.memory->bytes());
  response->set_memory_limit_bytes(env.memory->limit_bytes());
  response->set_descriptors(OpenDescriptors());
  response->set_max_descriptors(DescriptorLimit());
  response->set_connections(front.connections.held);
  response->set_max_connections(front.max_connections);
  response->set_waiting_calls(front.waiting_calls);
  if (env.blob_bytes != nullptr) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const int64_t bytes, env.blob_bytes(), "counting the blobs");
    response->set_blob_bytes(bytes);
  }
  response->set_blob_quota_bytes(env.limits.blob_quota_bytes);
  response->set_disk_free_bytes(FreeBytes(env.blob_dir));
  if (env.blobs_evicted != nullptr) {
    response->mutable_counters()->set_blobs_evicted(*env.blobs_evicted);
  }
  response->set_log_level(std::string(LogLevelName(CurrentLogLevel())));
  return absl::OkStatus();
}

absl::Status SetLogLevel(const Caller& caller, const Environment& env,
                         const v1::SetLogLevelRequest& request, v1::SetLogLevelResponse* response) {
  LogLevel level = env.log_level;
  if (!request.level().empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(level, ParseLogLevel(request.level()));
  }
  response->set_before(std::string(LogLevelName(CurrentLogLevel())));
  if (request.with_peers()) env.dispatcher->SetLogLevelOfPeers(request.level());
  slipway::SetLogLevel(level);
  Log(LogLevel::kWarning, "the log shows another level",
      {{"before", response->before()},
       {"now", LogLevelName(level)},
       {"fleet", request.with_peers() ? "yes" : "no"},
       {"by", caller.owner}});
  return absl::OkStatus();
}

}  // namespace slipway::server
