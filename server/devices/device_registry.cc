#include "server/devices/device_registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/artifact/versions.h"
#include "core/base/status_macros.h"
#include "server/limits.h"
#include "server/names.h"
#include "server/peers/protocol.h"

namespace slipway::server {
namespace {

constexpr size_t kMaxTextBytes = 1'024;

absl::Status CheckDescription(const v1::DeviceDescription& description) {
  SLIPWAY_RETURN_IF_ERROR(CheckPeerId("device id", description.id()));
  if (description.model().size() > kMaxTextBytes || description.os().size() > kMaxTextBytes) {
    return absl::InvalidArgumentError(absl::StrCat("device '", description.id(),
                                                   "' describes itself in ", "more than ",
                                                   kMaxTextBytes, " bytes"));
  }
  return absl::OkStatus();
}

// From what agents report and what is kept of devices.
template <typename Proto>
absl::StatusOr<DeviceOffer> ReadOffer(const v1::DeviceDescription& description,
                                      const Proto& proto) {
  DeviceOffer offer;
  SLIPWAY_ASSIGN_OR_RETURN(offer.target, ParseTarget(description.target()));
  SLIPWAY_ASSIGN_OR_RETURN(offer.abis,
                           ReadVersionRange(proto.min_abi(), proto.max_abi(), "kernel ABIs"));
  SLIPWAY_ASSIGN_OR_RETURN(
      offer.formats, ReadVersionRange(proto.min_format(), proto.max_format(), "manifest formats"));
  return offer;
}

// What an operator should know of a device that cannot run what is compiled now.
std::string VersionWarning(const DeviceOffer& offer) {
  if (offer.abis.Includes(SLIPWAY_ABI_VERSION)) return "";
  return absl::StrCat("its agent takes kernel ABI ", ToString(offer.abis),
                      ", what is compiled now is of ", SLIPWAY_ABI_VERSION,
                      ": update the older one");
}

bool SameDescription(const v1::DeviceDescription& a, const v1::DeviceDescription& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

}  // namespace

DeviceRegistry::DeviceRegistry(absl::Duration silence) : agents_("agent", silence) {}

void DeviceRegistry::Restore(const v1::Device& device) {
  absl::StatusOr<DeviceOffer> offer = ReadOffer(device.description(), device);
  if (!offer.ok()) return;
  RegisteredDevice& restored = Put(device.description().id(), device.agent_id());
  restored.description = device.description();
  restored.offer = *std::move(offer);
  restored.agent_version = device.agent_version();
  restored.last_seen = absl::FromUnixNanos(device.last_seen_ns());
}

absl::StatusOr<DeviceRegistry::Reported> DeviceRegistry::Report(const v1::AgentState& state,
                                                                absl::string_view address,
                                                                absl::Time wall,
                                                                absl::Duration now) {
  SLIPWAY_RETURN_IF_ERROR(CheckPeerId("agent_id", state.agent_id()));
  SLIPWAY_RETURN_IF_ERROR(CheckReportHeader({.instance_id = state.instance_id(),
                                             .version = state.version(),
                                             .applied_version = state.applied_version(),
                                             .min_protocol = state.min_protocol(),
                                             .max_protocol = state.max_protocol(),
                                             .attempts = state.attempts_size(),
                                             .park_ns = state.park_ns()}));
  if (state.devices_size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("agent '", state.agent_id(), "' has ",
                                                   state.devices_size(),
                                                   " devices; exactly one wanted"));
  }
  const v1::DeviceDescription& description = state.devices(0);
  SLIPWAY_RETURN_IF_ERROR(CheckDescription(description));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(DeviceOffer offer, ReadOffer(description, state),
                                absl::StrCat("device '", description.id(), "'"));
  const RegisteredDevice* known = Find(description.id());
  if (known != nullptr && known->agent_id != state.agent_id() &&
      !agents_.IsLost(known->agent_id, now)) {
    return absl::AlreadyExistsError(absl::StrCat("device '", description.id(),
                                                 "' belongs to agent '", known->agent_id,
                                                 "': give it another id"));
  }
  if (known == nullptr && devices_.size() >= kMaxPeers) {
    return absl::ResourceExhaustedError(
        absl::StrCat("this server knows ", devices_.size(), " devices and takes no more"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(ReportKind kind, agents_.Take({.id = state.agent_id(),
                                                          .instance_id = state.instance_id(),
                                                          .sequence = state.sequence(),
                                                          .address = std::string(address)},
                                                         now));
  if (kind == ReportKind::kOutdated) return Reported{kind, false};

  const bool changed = known == nullptr || known->agent_id != state.agent_id() ||
                       known->agent_version != state.version() || known->offer.abis != offer.abis ||
                       known->offer.formats != offer.formats ||
                       !SameDescription(known->description, description);
  RegisteredDevice& device = Put(description.id(), state.agent_id());
  device.description = description;
  device.offer = std::move(offer);
  device.agent_version = state.version();
  device.last_seen = wall;
  // What the agent does not describe any more is not there any more.
  const absl::btree_set<std::string> held = holdings_[state.agent_id()].devices;
  for (const std::string& id : held) {
    if (id != description.id()) Erase(id);
  }
  absl::btree_set<std::string>& active = holdings_[state.agent_id()].active;
  active.clear();
  for (const v1::RunAttemptState& attempt : state.attempts()) {
    if (attempt.state() == v1::RunAttemptState::PREPARING ||
        attempt.state() == v1::RunAttemptState::RUNNING) {
      active.insert(attempt.attempt_id());
    }
  }
  return Reported{kind, changed};
}

const RegisteredDevice* DeviceRegistry::Find(absl::string_view device_id) const {
  auto it = devices_.find(device_id);
  return it == devices_.end() ? nullptr : &it->second;
}

std::vector<const RegisteredDevice*> DeviceRegistry::DevicesOf(absl::string_view agent_id) const {
  std::vector<const RegisteredDevice*> found;
  const auto it = holdings_.find(agent_id);
  if (it == holdings_.end()) return found;
  for (const std::string& id : it->second.devices) found.push_back(Find(id));
  return found;
}

const absl::btree_set<std::string>& DeviceRegistry::ActiveAttempts(
    absl::string_view agent_id) const {
  static const auto* const kNone = new absl::btree_set<std::string>;
  auto it = holdings_.find(agent_id);
  return it == holdings_.end() ? *kNone : it->second.active;
}

v1::Device DeviceRegistry::Show(const RegisteredDevice& device, absl::Duration now) const {
  v1::Device shown;
  *shown.mutable_description() = device.description;
  shown.set_agent_id(device.agent_id);
  shown.set_agent_version(device.agent_version);
  shown.set_last_seen_ns(absl::ToUnixNanos(device.last_seen));
  shown.set_min_abi(static_cast<int32_t>(device.offer.abis.lowest));
  shown.set_max_abi(static_cast<int32_t>(device.offer.abis.highest));
  shown.set_min_format(static_cast<int32_t>(device.offer.formats.lowest));
  shown.set_max_format(static_cast<int32_t>(device.offer.formats.highest));
  shown.set_warning(agents_.Warning(device.agent_id, now));
  if (shown.warning().empty()) shown.set_warning(VersionWarning(device.offer));
  if (agents_.IsLost(device.agent_id, now)) {
    shown.set_state(v1::Device::LOST);
  } else {
    shown.set_state(ActiveAttempts(device.agent_id).empty() ? v1::Device::IDLE : v1::Device::BUSY);
  }
  return shown;
}

std::vector<std::string> DeviceRegistry::ForgetUnseenSince(absl::Time time) {
  std::vector<std::string> forgotten;
  for (const auto& [id, device] : devices_) {
    if (device.last_seen < time) forgotten.push_back(id);
  }
  for (const std::string& id : forgotten) Erase(id);
  return forgotten;
}

RegisteredDevice& DeviceRegistry::Put(const std::string& device_id, const std::string& agent_id) {
  const auto [it, is_new] = devices_.try_emplace(device_id);
  RegisteredDevice& device = it->second;
  if (!is_new && device.agent_id != agent_id) Release(device_id, device.agent_id);
  device.agent_id = agent_id;
  holdings_[agent_id].devices.insert(device_id);
  return device;
}

void DeviceRegistry::Erase(const std::string& device_id) {
  const auto it = devices_.find(device_id);
  Release(device_id, it->second.agent_id);
  devices_.erase(it);
}

void DeviceRegistry::Release(const std::string& device_id, const std::string& agent_id) {
  const auto it = holdings_.find(agent_id);
  it->second.devices.erase(device_id);
  if (!it->second.devices.empty()) return;
  agents_.Forget(agent_id);
  holdings_.erase(it);
}

}  // namespace slipway::server
