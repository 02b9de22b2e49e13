#include "server/peers/peer_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/limits.h"
#include "server/names.h"

namespace slipway::server {
namespace {

// A refused rival tries again at least this often.
constexpr absl::Duration kRivalShown = absl::Minutes(2);

}  // namespace

PeerTable::PeerTable(absl::Duration silence) : silence_(silence) {}

absl::StatusOr<ReportKind> PeerTable::Take(const PeerCall& call, absl::Duration now) {
  auto [it, is_new] = peers_.try_emplace(call.peer);
  Peer& peer = it->second;
  const bool is_other = peer.instance_id != call.instance_id;
  if (!is_new && is_other) {
    const bool is_live =
        !peer.has_left && (peer.open_calls > 0 || now - peer.heard_at < kInstanceGrace);
    if (is_live) {
      peer.rival = call.address;
      peer.rival_at = now;
      return absl::AlreadyExistsError(
          absl::StrCat(PeerName(call.peer), " is already there, from ", peer.address,
                       ": give this one another id, or stop the other"));
    }
  }
  const bool is_first = is_new || is_other;
  if (!is_new) Unlist(peer);
  if (is_first) peer = Peer{};
  peer.heard_at = now;
  List(peer);
  if (!is_first && call.sequence <= peer.sequence) return ReportKind::kOutdated;
  peer.instance_id = call.instance_id;
  peer.sequence = call.sequence;
  peer.address = call.address;
  peer.has_left = false;
  return is_first ? ReportKind::kNewInstance : ReportKind::kNewer;
}

void PeerTable::CallBegan(absl::string_view name, absl::string_view instance_id) {
  auto it = peers_.find(name);
  if (it == peers_.end() || it->second.instance_id != instance_id) return;
  Unlist(it->second);
  ++it->second.open_calls;
  List(it->second);
}

void PeerTable::CallEnded(absl::string_view name, absl::string_view instance_id,
                          absl::Duration now) {
  auto it = peers_.find(name);
  if (it == peers_.end() || it->second.instance_id != instance_id) return;
  Unlist(it->second);
  it->second.open_calls = std::max(0, it->second.open_calls - 1);
  it->second.heard_at = now;
  List(it->second);
}

void PeerTable::Left(absl::string_view name) {
  const auto it = peers_.find(name);
  if (it != peers_.end()) it->second.has_left = true;
}

const Peer* PeerTable::Find(absl::string_view name) const {
  auto it = peers_.find(name);
  return it == peers_.end() ? nullptr : &it->second;
}

bool PeerTable::IsLost(absl::string_view name, absl::Duration now) const {
  const Peer* peer = Find(name);
  if (peer == nullptr) return true;
  return peer->has_left || (peer->open_calls == 0 && now - peer->heard_at >= silence_);
}

absl::optional<absl::Duration> PeerTable::NextLoss(absl::Duration now) const {
  const auto it = silent_since_.upper_bound(now - silence_);
  if (it == silent_since_.end()) return absl::nullopt;
  return *it + silence_;
}

std::string PeerTable::Warning(absl::string_view name, absl::Duration now) const {
  const Peer* peer = Find(name);
  if (peer == nullptr || peer->rival.empty() || now - peer->rival_at > kRivalShown) return "";
  return absl::StrCat("another ", KindOfKey(name), " at ", peer->rival,
                      " claims the same id and is refused");
}

void PeerTable::Forget(absl::string_view name) {
  auto it = peers_.find(name);
  if (it == peers_.end()) return;
  Unlist(it->second);
  peers_.erase(it);
}

void PeerTable::Unlist(const Peer& peer) {
  if (peer.open_calls == 0) silent_since_.erase(silent_since_.find(peer.heard_at));
}

void PeerTable::List(const Peer& peer) {
  if (peer.open_calls == 0) silent_since_.insert(peer.heard_at);
}

}  // namespace slipway::server
