#include "server/peers/peer_registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/artifact/versions.h"
#include "core/base/status_macros.h"
#include "server/limits.h"
#include "server/names.h"
#include "server/peers/sync_messages.h"

namespace slipway::server {
namespace {

// What an operator should know of a device that cannot run what is compiled now.
std::string VersionWarning(const DeviceOffer& offer) {
  if (offer.abis.Includes(SLIPWAY_ABI_VERSION)) return "";
  return absl::StrCat("its agent takes kernel ABI ", ToString(offer.abis),
                      ", what is compiled now is of ", SLIPWAY_ABI_VERSION,
                      ": update the older one");
}

bool IsSame(const RegisteredPeer& known, const Report& report) {
  const DeviceOffer& a = DeviceOf(known)->offer;
  const DeviceOffer& b = std::get<DeviceSupply>(report.supply).offer;
  return known.version == report.version && a.abis == b.abis && a.formats == b.formats &&
         a.max_session == b.max_session &&
         known.description.SerializeAsString() == report.description.SerializeAsString();
}

}  // namespace

const DeviceSupply* DeviceOf(const RegisteredPeer& peer) {
  return std::get_if<DeviceSupply>(&peer.supply);
}

PeerRegistry::PeerRegistry(absl::Duration silence) : table_(silence) {}

void PeerRegistry::Restore(const v1::Device& device) {
  absl::StatusOr<DeviceSupply> supply = ReadSupply(device);
  if (!supply.ok()) return;
  const std::string peer = AgentKey(device.agent_id());
  const absl::Time last_seen = absl::FromUnixNanos(device.last_seen_ns());
  const RegisteredPeer* other = Find(peer);
  if (other != nullptr && other->last_seen > last_seen) return;
  Forget(peer);
  by_device_[device.description().id()] = peer;
  peers_[peer] = {.supply = *std::move(supply),
                  .capacity = 1,
                  .description = device.description(),
                  .version = device.agent_version(),
                  .active = {},
                  .last_seen = last_seen};
}

absl::StatusOr<PeerRegistry::Taken> PeerRegistry::Take(const Report& report, absl::Time wall,
                                                       absl::Duration now) {
  const std::string& peer = report.call.peer;
  const std::string& device = report.description.id();
  const std::string rival = AgentOfDevice(device);
  if (!rival.empty() && rival != peer && !table_.IsLost(rival, now)) {
    return absl::AlreadyExistsError(
        absl::StrCat("device '", device, "' belongs to ", PeerName(rival), ": give it another id"));
  }
  const RegisteredPeer* known = Find(peer);
  if (known == nullptr && rival.empty() && peers_.size() >= kMaxPeers) {
    return absl::ResourceExhaustedError(
        absl::StrCat("this server knows ", peers_.size(), " agents and workers and takes no more"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(ReportKind kind, table_.Take(report.call, now));
  if (kind == ReportKind::kOutdated) return Taken{.kind = kind};

  Taken taken{.kind = kind};
  if (!device.empty()) {
    taken.device_changed = known == nullptr || !IsSame(*known, report);
    if (known != nullptr && known->description.id() != device) {
      taken.device_gone = known->description.id();
      by_device_.erase(taken.device_gone);
    }
    if (!rival.empty() && rival != peer) Forget(rival);
    by_device_[device] = peer;
  }
  RegisteredPeer& entry = peers_[peer];
  entry.supply = report.supply;
  entry.capacity = report.capacity;
  entry.description = report.description;
  entry.version = report.version;
  entry.last_seen = wall;
  entry.active.clear();
  for (const LeaseReport& lease : report.leases) {
    if (lease.stage == LeaseReport::Stage::kPreparing ||
        lease.stage == LeaseReport::Stage::kRunning) {
      entry.active.insert(lease.id);
    }
  }
  return taken;
}

const RegisteredPeer* PeerRegistry::Find(absl::string_view peer) const {
  const auto it = peers_.find(peer);
  return it == peers_.end() ? nullptr : &it->second;
}

std::string PeerRegistry::AgentOfDevice(absl::string_view device_id) const {
  const auto it = by_device_.find(device_id);
  return it == by_device_.end() ? "" : it->second;
}

v1::Device PeerRegistry::ShowDevice(absl::string_view peer, absl::Duration now) const {
  const RegisteredPeer& agent = *Find(peer);
  const DeviceOffer& offer = DeviceOf(agent)->offer;
  v1::Device shown;
  *shown.mutable_description() = agent.description;
  shown.set_agent_id(std::string(IdOfKey(peer)));
  shown.set_agent_version(agent.version);
  shown.set_last_seen_ns(absl::ToUnixNanos(agent.last_seen));
  shown.set_min_abi(static_cast<int32_t>(offer.abis.lowest));
  shown.set_max_abi(static_cast<int32_t>(offer.abis.highest));
  shown.set_min_format(static_cast<int32_t>(offer.formats.lowest));
  shown.set_max_format(static_cast<int32_t>(offer.formats.highest));
  shown.set_max_session(offer.max_session);
  shown.set_warning(table_.Warning(peer, now));
  if (shown.warning().empty()) shown.set_warning(VersionWarning(offer));
  if (table_.IsLost(peer, now)) {
    shown.set_state(v1::Device::LOST);
  } else {
    shown.set_state(agent.active.empty() ? v1::Device::IDLE : v1::Device::BUSY);
  }
  return shown;
}

v1::Worker PeerRegistry::ShowWorker(absl::string_view peer, absl::Duration now) const {
  const RegisteredPeer& worker = *Find(peer);
  const auto& targets = std::get<TargetFingerprints>(worker.supply);
  v1::Worker shown;
  shown.set_id(std::string(IdOfKey(peer)));
  shown.set_fingerprint(targets.begin()->second);
  for (const auto& [family, fingerprint] : targets) {
    v1::TargetSupport& target = *shown.add_targets();
    target.set_family(family);
    target.set_fingerprint(fingerprint);
  }
  shown.set_last_seen_ns(absl::ToUnixNanos(worker.last_seen));
  shown.set_lost(table_.IsLost(peer, now));
  return shown;
}

void PeerRegistry::Forget(absl::string_view peer) {
  table_.Forget(peer);
  const auto it = peers_.find(peer);
  if (it == peers_.end()) return;
  if (DeviceOf(it->second) != nullptr) by_device_.erase(it->second.description.id());
  peers_.erase(it);
}

std::vector<std::string> PeerRegistry::ForgetUnseen(absl::Time wall, absl::Duration now) {
  std::vector<std::string> unseen;
  for (const auto& [key, peer] : peers_) {
    const absl::Duration kept = DeviceOf(peer) != nullptr ? kDeviceRetention : kWorkerRetention;
    if (peer.last_seen < wall - kept && table_.IsLost(key, now)) unseen.push_back(key);
  }
  std::vector<std::string> devices;
  for (const std::string& key : unseen) {
    const RegisteredPeer& peer = *Find(key);
    if (DeviceOf(peer) != nullptr) devices.push_back(peer.description.id());
    Forget(key);
  }
  return devices;
}

}  // namespace slipway::server
