// PeerTable: which processes report to the server by Sync, and which of them are there.
//
// Agents and workers follow the same rules: a process has a lasting name, a key of names.h and an instance_id of its own; its
// reports carry a rising sequence number; only one live instance may use an id.
#ifndef SLIPWAY_SERVER_PEERS_PEER_TABLE_H_
#define SLIPWAY_SERVER_PEERS_PEER_TABLE_H_

#include <cstdint>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "server/peers/peer_call.h"

namespace slipway::server {

// What the server knows of one process.
struct Peer {
  std::string instance_id;
  int64_t sequence = 0;     // Of the last report.
  std::string address;      // Where that came from.
  int open_calls = 0;       // Calls of this instance being answered or parked.
  absl::Duration heard_at;  // Monotonic: the last report, or the end of the last call.
  bool has_left = false;    // Its last report said so.
  std::string rival;  // Address of another instance that was refused; empty when there is none.
  absl::Duration rival_at;  // When, monotonic.
};

enum class ReportKind {
  kNewInstance,  // The first report of this instance.
  kNewer,        // The next of a known one.
  kOutdated,     // Came after a later one; to be ignored.
};

// Not thread-safe. Times are monotonic.
class PeerTable {
 public:
  // A peer that has been silent for longer than `silence` counts as lost.
  explicit PeerTable(absl::Duration silence);

  // Takes a report in. ALREADY_EXISTS while another instance with this name is live, naming its address.
  absl::StatusOr<ReportKind> Take(const PeerCall& call, absl::Duration now);

  // The time between these two is no silence. Calls of other instances than the current one are ignored.
  void CallBegan(absl::string_view peer, absl::string_view instance_id);
  void CallEnded(absl::string_view peer, absl::string_view instance_id, absl::Duration now);

  // It said that it leaves: lost, until it reports again.
  void Left(absl::string_view peer);

  // nullptr when it never reported, or was forgotten.
  const Peer* Find(absl::string_view peer) const;

  // True when it is unknown, has left, or has been silent for too long.
  bool IsLost(absl::string_view peer, absl::Duration now) const;

  // When the next peer that is not lost will be, if it stays silent.
  absl::optional<absl::Duration> NextLoss(absl::Duration now) const;

  // What an operator should know of this peer; empty when all is well.
  std::string Warning(absl::string_view peer, absl::Duration now) const;

  void Forget(absl::string_view peer);

  // How many are known.
  int size() const { return static_cast<int>(peers_.size()); }
  absl::Duration silence() const { return silence_; }

 private:
  // What changes a peer's open_calls or heard_at does so between these two.
  void Unlist(const Peer& peer);
  void List(const Peer& peer);

  const absl::Duration silence_;
  absl::btree_map<std::string, Peer> peers_;
  absl::btree_multiset<absl::Duration> silent_since_;  // heard_at of those without open calls.
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_PEERS_PEER_TABLE_H_
