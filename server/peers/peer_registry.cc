#include "server/peers/peer_registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/artifact/versions.h"
#include "core/base/status_macros.h"
#include "core/wire/device_attributes_proto.h"
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
         a.max_session == b.max_session && a.max_benchmark == b.max_benchmark &&
         known.description.SerializeAsString() == report.description.SerializeAsString();
}

std::string BytesOf(const absl::optional<v1::AgentUpdate>& update) {
  return update.has_value() ? update->SerializeAsString() : "";
}

}  // namespace

const DeviceSupply* DeviceOf(const RegisteredPeer& peer) {
  return std::get_if<DeviceSupply>(&peer.supply);
}

absl::Status NoSuchDevice(absl::string_view id) {
  return absl::NotFoundError(
      absl::StrCat("no device '", id, "' is known; 'slipway devices' lists those that are"));
}

PeerRegistry::PeerRegistry(absl::Duration silence) : table_(silence) {}

std::string PeerRegistry::Restore(const v1::Device& device, absl::Duration now) {
  absl::StatusOr<DeviceSupply> supply = ReadSupply(device);
  if (!supply.ok()) return "";
  const std::string peer = AgentKey(device.agent_id());
  const absl::Time last_seen = absl::FromUnixNanos(device.last_seen_ns());
  const RegisteredPeer* other = Find(peer);
  if (other != nullptr && other->last_seen > last_seen) return device.description().id();
  std::string gone;
  if (other != nullptr) gone = ForgetWithDevice(peer).device;
  by_device_[device.description().id()] = peer;
  if (const absl::StatusOr<Labels> labels = FromProto(device.labels()); labels.ok()) {
    labels_[device.description().id()] = *labels;
  }
  RegisteredPeer& entry = peers_[peer];
  entry = {.supply = *std::move(supply),
           .capacity = 1,
           .description = device.description(),
           .version = device.agent_version(),
           .update = device.has_update() ? absl::make_optional(device.update()) : absl::nullopt,
           .active = {},
           .last_seen = last_seen,
           .heard_at = now};
  Characterize(entry);
  List(peer, entry);
  return gone;
}

absl::StatusOr<PeerRegistry::Taken> PeerRegistry::Take(
    const Report& report, absl::Time wall, absl::Duration now,
    absl::FunctionRef<bool(absl::string_view peer)> holds_lease) {
  const std::string& peer = report.call.peer;
  const std::string& device = report.description.id();
  const std::string rival = AgentOfDevice(device);
  if (!rival.empty() && rival != peer && !table_.IsLost(rival, now)) {
    return absl::AlreadyExistsError(
        absl::StrCat("device '", device, "' belongs to ", PeerName(rival), ": give it another id"));
  }
  const RegisteredPeer* known = Find(peer);
  Taken taken{};
  if (known == nullptr && rival.empty()) {
    SLIPWAY_RETURN_IF_ERROR(MakeRoom(now, holds_lease, taken.forgotten));
  }
  SLIPWAY_ASSIGN_OR_RETURN(taken.kind, table_.Take(report.call, now));
  if (known != nullptr) Unlist(peer, *known);
  if (taken.kind != ReportKind::kOutdated) {
    if (!device.empty()) {
      taken.device_changed = known == nullptr || !IsSame(*known, report);
      taken.update_changed = known == nullptr || BytesOf(known->update) != BytesOf(report.update);
      if (known != nullptr && known->description.id() != device) {
        taken.device_gone = known->description.id();
        by_device_.erase(taken.device_gone);
        labels_.erase(taken.device_gone);
      }
      if (!rival.empty() && rival != peer) {
        Forget(rival);
        taken.forgotten.push_back({.peer = rival});
      }
      by_device_[device] = peer;
    }
    RegisteredPeer& entry = peers_[peer];
    std::shared_ptr<const DeviceAttributes> attributes;
    if (known != nullptr && !device.empty()) attributes = DeviceOf(entry)->attributes;
    entry.supply = report.supply;
    entry.capacity = report.capacity;
    entry.description = report.description;
    entry.version = report.version;
    entry.update = report.update;
    if (report.machine.has_value()) entry.machine = report.machine;
    entry.last_seen = wall;
    if (attributes != nullptr && !taken.device_changed) {
      std::get<DeviceSupply>(entry.supply).attributes = std::move(attributes);
    } else if (!device.empty()) {
      Characterize(entry);
    }
    entry.active.clear();
    for (const LeaseReport& lease : report.leases) {
      if (lease.stage == LeaseReport::Stage::kPreparing ||
          lease.stage == LeaseReport::Stage::kRunning) {
        entry.active.insert(lease.id);
      }
    }
  }
  RegisteredPeer& entry = peers_[peer];
  entry.heard_at = now;
  List(peer, entry);
  return taken;
}

absl::Status PeerRegistry::MakeRoom(absl::Duration now,
                                    absl::FunctionRef<bool(absl::string_view peer)> holds_lease,
                                    std::vector<Forgotten>& forgotten) {
  for (auto it = by_silence_.begin(); peers_.size() >= kMaxPeers;) {
    if (it == by_silence_.end() || now - std::get<absl::Duration>(*it) < kLeastPeerRetention) {
      return absl::ResourceExhaustedError(
          absl::StrCat("this server knows ", peers_.size(),
                       " agents and workers, and takes no more; each of them has work or was there "
                       "within the last ",
                       absl::FormatDuration(kLeastPeerRetention),
                       ": stop those that are not needed, and try again after that time"));
    }
    const std::string key = std::get<std::string>(*it);
    ++it;
    if (!MayMakeRoom(key, now) || holds_lease(key)) continue;
    forgotten.push_back(ForgetWithDevice(key));
    it = by_silence_.begin();
  }
  return absl::OkStatus();
}

bool PeerRegistry::MayMakeRoom(const std::string& key, absl::Duration now) const {
  if (!table_.IsLost(key, now)) return false;
  const Peer* reported = table_.Find(key);
  // The end of its last call may be later than its last report.
  return reported == nullptr ||
         (reported->open_calls == 0 && now - reported->heard_at >= kLeastPeerRetention);
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
  if (const auto labels = labels_.find(agent.description.id()); labels != labels_.end()) {
    ToProto(labels->second, shown.mutable_labels());
  }
  shown.set_max_benchmark(offer.max_benchmark);
  if (agent.update.has_value()) *shown.mutable_update() = *agent.update;
  shown.set_warning(table_.Warning(peer, now));
  if (shown.warning().empty()) shown.set_warning(VersionWarning(offer));
  if (table_.IsLost(peer, now)) {
    shown.set_state(v1::Device::LOST);
  } else {
    shown.set_state(agent.active.empty() ? v1::Device::IDLE : v1::Device::BUSY);
    if (agent.machine.has_value()) *shown.mutable_machine() = *agent.machine;
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

void PeerRegistry::Characterize(RegisteredPeer& agent) const {
  const auto labels = labels_.find(agent.description.id());
  std::get<DeviceSupply>(agent.supply).attributes = std::make_shared<const DeviceAttributes>(
      AttributesOf(agent.description, labels == labels_.end() ? Labels() : labels->second));
}

absl::StatusOr<Labels> PeerRegistry::ChangeLabels(absl::string_view device_id, const Labels& given,
                                                  absl::Span<const std::string> removed) {
  const std::string device(device_id);
  const std::string agent = AgentOfDevice(device);
  if (agent.empty()) return NoSuchDevice(device);
  Labels changed = labels_[device];
  for (const auto& [key, value] : given) changed[key] = value;
  for (const std::string& key : removed) changed.erase(key);
  if (changed.size() > kMaxLabels) {
    return absl::InvalidArgumentError(absl::StrCat(
        "device '", device_id, "' would have ", changed.size(), " labels; at most ", kMaxLabels));
  }
  labels_[device] = changed;
  Characterize(peers_.at(agent));
  return changed;
}

void PeerRegistry::Forget(absl::string_view peer) {
  table_.Forget(peer);
  const auto it = peers_.find(peer);
  if (it == peers_.end()) return;
  Unlist(it->first, it->second);
  if (DeviceOf(it->second) != nullptr) by_device_.erase(it->second.description.id());
  peers_.erase(it);
}

PeerRegistry::Forgotten PeerRegistry::ForgetWithDevice(const std::string& key) {
  Forgotten forgotten{.peer = key, .device = Find(key)->description.id()};
  labels_.erase(forgotten.device);
  Forget(key);
  return forgotten;
}

std::vector<PeerRegistry::Forgotten> PeerRegistry::ForgetUnseen(absl::Time wall,
                                                                absl::Duration now) {
  std::vector<std::string> unseen;
  for (const auto& [key, peer] : peers_) {
    const absl::Duration kept = DeviceOf(peer) != nullptr ? kDeviceRetention : kWorkerRetention;
    if (peer.last_seen < wall - kept && table_.IsLost(key, now)) unseen.push_back(key);
  }
  std::vector<Forgotten> forgotten;
  for (const std::string& key : unseen) forgotten.push_back(ForgetWithDevice(key));
  return forgotten;
}

void PeerRegistry::Unlist(const std::string& key, const RegisteredPeer& peer) {
  by_silence_.erase({peer.heard_at, peer.last_seen, key});
}

void PeerRegistry::List(const std::string& key, const RegisteredPeer& peer) {
  by_silence_.insert({peer.heard_at, peer.last_seen, key});
}

}  // namespace slipway::server
