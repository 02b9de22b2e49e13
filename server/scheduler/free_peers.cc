#include "server/scheduler/free_peers.h"

#include <algorithm>
#include <variant>

#include "server/devices/can_run.h"

namespace slipway::server {
namespace {

bool AreAlike(const Supply& a, const Supply& b) {
  const auto* device = std::get_if<DeviceSupply>(&a);
  const auto* other = std::get_if<DeviceSupply>(&b);
  if (device != nullptr && other != nullptr) return device->offer == other->offer;
  const auto* targets = std::get_if<TargetFingerprints>(&a);
  const auto* others = std::get_if<TargetFingerprints>(&b);
  return targets != nullptr && others != nullptr && *targets == *others;
}

}  // namespace

void FreePeers::Put(const std::string& peer, const Supply& supply) {
  Erase(peer);
  auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                           [&](const Kind& known) { return AreAlike(known.supply, supply); });
  if (kind == kinds_.end()) {
    kind = kinds_.emplace(kinds_.end());
    kind->supply = supply;
  }
  kind->peers.insert(peer);
  kind_of_[peer] = kind;
  if (const auto* device = std::get_if<DeviceSupply>(&supply)) {
    by_device_[device->device] = peer;
    device_of_[peer] = device->device;
    if (device->attributes == nullptr) return;
    attributes_[peer] = device->attributes;
    for (const absl::string_view text : selectors_.Matching(device->device, device->attributes)) {
      matching_[std::string(text)].insert(peer);
    }
  }
}

void FreePeers::Erase(absl::string_view peer) {
  const auto known = kind_of_.find(peer);
  if (known == kind_of_.end()) return;
  const Kinds::iterator kind = known->second;
  kind->peers.erase(known->first);
  if (kind->peers.empty()) kinds_.erase(kind);
  if (const auto device = device_of_.find(peer); device != device_of_.end()) {
    // Another agent may have the device by now.
    const auto holder = by_device_.find(device->second);
    if (holder != by_device_.end() && holder->second == peer) by_device_.erase(holder);
    device_of_.erase(device);
    attributes_.erase(known->first);
    for (auto& [text, peers] : matching_) peers.erase(known->first);
  }
  kind_of_.erase(known);
}

absl::optional<std::string> FreePeers::Next(const Need& need, absl::string_view after) const {
  const auto* wanted = std::get_if<DeviceNeed>(&need);
  if (wanted != nullptr && wanted->selector.has_value()) return NextSelected(*wanted, after);
  if (wanted != nullptr && !wanted->device.empty()) {
    const auto holder = by_device_.find(wanted->device);
    if (holder == by_device_.end() || holder->second <= after) return absl::nullopt;
    const Kind& kind = *kind_of_.at(holder->second);
    const DeviceSupply supply{wanted->device, std::get<DeviceSupply>(kind.supply).offer};
    if (!Fits(need, supply)) return absl::nullopt;
    return holder->second;
  }
  absl::optional<std::string> first;
  for (const Kind& kind : kinds_) {
    const auto peer = kind.peers.upper_bound(after);
    if (peer == kind.peers.end() || (first.has_value() && *first < *peer)) continue;
    if (Fits(need, kind.supply)) first = *peer;
  }
  return first;
}

const absl::btree_set<std::string>& FreePeers::Matching(const DeviceNeed& need) const {
  const auto known = matching_.find(need.device);
  if (known != matching_.end()) return known->second;
  if (matching_.size() >= kMaxSelectors) {
    matching_.clear();
    selectors_ = SelectorIndex();
  }
  selectors_.Use(need.device, *need.selector);
  absl::btree_set<std::string>& peers = matching_[need.device];
  for (const auto& [peer, attributes] : attributes_) {
    if (need.selector->Matches(*attributes)) peers.insert(peer);
  }
  return peers;
}

absl::optional<std::string> FreePeers::NextSelected(const DeviceNeed& need,
                                                    absl::string_view after) const {
  const absl::btree_set<std::string>& peers = Matching(need);
  absl::flat_hash_map<const Kind*, bool> can_run;
  for (auto peer = peers.upper_bound(after); peer != peers.end(); ++peer) {
    const Kind& kind = *kind_of_.at(*peer);
    const auto [known, is_new] = can_run.try_emplace(&kind, false);
    if (is_new) {
      const DeviceOffer& offer = std::get<DeviceSupply>(kind.supply).offer;
      known->second = CheckCanRun(need.program, offer).ok();
    }
    if (known->second) return *peer;
  }
  return absl::nullopt;
}

}  // namespace slipway::server
