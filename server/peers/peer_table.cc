#include "server/peers/peer_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/limits.h"

namespace slipway::server {
namespace {

// A refused rival tries again at least this often.
constexpr absl::Duration kRivalShown = absl::Minutes(2);

}  // namespace

PeerTable::PeerTable(absl::string_view noun, absl::Duration silence)
    : noun_(noun), silence_(silence) {}

absl::StatusOr<ReportKind> PeerTable::Take(const Report& report, absl::Duration now) {
  auto [it, is_new] = peers_.try_emplace(report.id);
  Peer& peer = it->second;
  const bool is_other = peer.instance_id != report.instance_id;
  if (!is_new && is_other) {
    const bool is_live = peer.open_calls > 0 || now - peer.heard_at < kInstanceGrace;
    if (is_live) {
      peer.rival = report.address;
      peer.rival_at = now;
      return absl::AlreadyExistsError(
          absl::StrCat(noun_, " '", report.id, "' is already there, from ", peer.address,
                       ": give this one another id, or stop the other"));
    }
  }
  const bool is_first = is_new || is_other;
  if (!is_new) Unlist(peer);
  if (is_first) peer = Peer{};
  peer.heard_at = now;
  List(peer);
  if (!is_first && report.sequence <= peer.sequence) return ReportKind::kOutdated;
  peer.instance_id = report.instance_id;
  peer.sequence = report.sequence;
  peer.address = report.address;
  return is_first ? ReportKind::kNewInstance : ReportKind::kNewer;
}

void PeerTable::CallBegan(absl::string_view id, absl::string_view instance_id) {
  auto it = peers_.find(id);
  if (it == peers_.end() || it->second.instance_id != instance_id) return;
  Unlist(it->second);
  ++it->second.open_calls;
  List(it->second);
}

void PeerTable::CallEnded(absl::string_view id, absl::string_view instance_id, absl::Duration now) {
  auto it = peers_.find(id);
  if (it == peers_.end() || it->second.instance_id != instance_id) return;
  Unlist(it->second);
  it->second.open_calls = std::max(0, it->second.open_calls - 1);
  it->second.heard_at = now;
  List(it->second);
}

const Peer* PeerTable::Find(absl::string_view id) const {
  auto it = peers_.find(id);
  return it == peers_.end() ? nullptr : &it->second;
}

bool PeerTable::IsLost(absl::string_view id, absl::Duration now) const {
  const Peer* peer = Find(id);
  if (peer == nullptr) return true;
  return peer->open_calls == 0 && now - peer->heard_at >= silence_;
}

absl::optional<absl::Duration> PeerTable::NextLoss(absl::Duration now) const {
  const auto it = silent_since_.upper_bound(now - silence_);
  if (it == silent_since_.end()) return absl::nullopt;
  return *it + silence_;
}

std::string PeerTable::Warning(absl::string_view id, absl::Duration now) const {
  const Peer* peer = Find(id);
  if (peer == nullptr || peer->rival.empty() || now - peer->rival_at > kRivalShown) return "";
  return absl::StrCat("another ", noun_, " at ", peer->rival, " claims the same id and is refused");
}

void PeerTable::Forget(absl::string_view id) {
  auto it = peers_.find(id);
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
