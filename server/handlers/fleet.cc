#include "server/handlers/fleet.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/selector/explanation.h"
#include "core/selector/labels.h"
#include "core/selector/selector.h"
#include "core/target/target.h"
#include "core/wire/device_attributes_proto.h"
#include "server/devices/why_unavailable.h"
#include "server/identities/roles.h"

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

std::optional<Reason> WhyNot(const Selector& selector, const v1::Device& device) {
  // What is kept of labels was checked when it came.
  return selector.WhyNot(
      AttributesOf(device.description(), FromProto(device.labels()).value_or(Labels())));
}

}  // namespace

absl::Status ListDevices(const Caller& caller, const Environment& env,
                         const v1::ListDevicesRequest& request, v1::ListDevicesResponse* response) {
  Selector selector;  // Of all.
  if (IsSelector(request.selector())) {
    SLIPWAY_ASSIGN_OR_RETURN(selector, Selector::Parse(request.selector()));
  }
  const bool is_id = !request.selector().empty() && !IsSelector(request.selector());
  std::vector<Reason> reasons;
  for (v1::Device& device : env.dispatcher->Devices(caller)) {
    if (is_id && device.description().id() != request.selector()) {
      reasons.push_back({"has another id", "have another id"});
      continue;
    }
    std::optional<Reason> why_not = WhyNot(selector, device);
    if (!why_not.has_value() && request.available()) why_not = WhyUnavailable(device, caller.owner);
    if (why_not.has_value()) {
      reasons.push_back(*std::move(why_not));
    } else {
      *response->add_devices() = std::move(device);
    }
  }
  if (response->devices().empty() && !request.selector().empty()) {
    response->set_explanation(ExplainNone(request.selector(), reasons));
  }
  return absl::OkStatus();
}

absl::Status SetDeviceLabels(const Caller& caller, const Environment& env,
                             const v1::SetDeviceLabelsRequest& request,
                             v1::SetDeviceLabelsResponse* response) {
  SLIPWAY_ASSIGN_OR_RETURN(const Labels given, FromProto(request.labels()));
  if (static_cast<size_t>(request.removed_size()) > kMaxLabels) {
    return absl::InvalidArgumentError(
        absl::StrCat(request.removed_size(), " labels are to be removed; at most ", kMaxLabels));
  }
  for (const std::string& key : request.removed()) SLIPWAY_RETURN_IF_ERROR(CheckLabelKey(key));
  const std::vector<std::string> removed(request.removed().begin(), request.removed().end());
  SLIPWAY_ASSIGN_OR_RETURN(const Labels labels,
                           env.dispatcher->ChangeLabels(caller, request.device(), given, removed));
  slipway::ToProto(labels, response->mutable_labels());
  return absl::OkStatus();
}

absl::Status ListWorkers(const Caller& caller, const Environment& env,
                         v1::ListWorkersResponse* response) {
  for (v1::Worker& worker : env.dispatcher->Workers(caller))
    *response->add_workers() = std::move(worker);
  return absl::OkStatus();
}

absl::Status GetServerInfo(const Caller& caller, const Environment& env, v1::ServerInfo* response) {
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
  response->set_selectors(kSelectorVersion);
  response->mutable_caller()->set_owner(caller.owner);
  for (const v1::Role role : ToProto(caller.roles)) response->mutable_caller()->add_roles(role);
  return absl::OkStatus();
}

}  // namespace slipway::server
