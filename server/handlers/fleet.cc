#include "server/handlers/fleet.h"

#include <string>
#include <utility>
#include <vector>

#include "core/base/version.h"
#include "core/target/target.h"

namespace slipway::server {
namespace {

// The targets of the families that have a name; a family whose targets are not known here stands for itself.
std::vector<std::string> TargetsOf(const std::vector<std::string>& families) {
  std::vector<std::string> targets;
  for (const std::string& family : families) {
    const size_t before = targets.size();
    for (std::string& known : KnownTargets()) {
      if (FamilyOf(*ParseTarget(known)) == family) targets.push_back(std::move(known));
    }
    if (targets.size() == before) targets.push_back(family);
  }
  return targets;
}

}  // namespace

absl::Status ListDevices(const Caller& caller, const Environment& env,
                         v1::ListDevicesResponse* response) {
  for (v1::Device& device : env.dispatcher->Devices(caller))
    *response->add_devices() = std::move(device);
  return absl::OkStatus();
}

absl::Status ListWorkers(const Caller& caller, const Environment& env,
                         v1::ListWorkersResponse* response) {
  for (v1::Worker& worker : env.dispatcher->Workers(caller))
    *response->add_workers() = std::move(worker);
  return absl::OkStatus();
}

absl::Status GetServerInfo(const Environment& env, v1::ServerInfo* response) {
  response->set_version(kVersion);
  response->set_min_protocol(kMinProtocol);
  response->set_max_protocol(kMaxProtocol);
  for (std::string& target : TargetsOf(env.compiler_families())) {
    response->add_targets(std::move(target));
  }
  v1::ServerLimits& limits = *response->mutable_limits();
  limits.set_max_blob_bytes(env.limits.max_blob_bytes);
  limits.set_max_model_bytes(env.limits.max_model_bytes);
  limits.set_max_input_bytes(env.limits.max_input_bytes);
  limits.set_max_queued_jobs(env.limits.max_queued_jobs);
  limits.set_blob_quota_bytes(env.limits.blob_quota_bytes);
  limits.set_job_retention_ns(absl::ToInt64Nanoseconds(env.limits.job_retention));
  *response->mutable_counters() = env.dispatcher->Counters();
  if (env.blobs_evicted != nullptr) {
    response->mutable_counters()->set_blobs_evicted(*env.blobs_evicted);
  }
  response->set_instance_id(env.instance_id);
  return absl::OkStatus();
}

}  // namespace slipway::server
