// PeerRegistry: what the server believes about agents, with their devices, and workers. Soft state, rebuilt from what
// they report; descriptions of devices are kept over restarts by a DeviceStore.
#ifndef SLIPWAY_SERVER_PEERS_PEER_REGISTRY_H_
#define SLIPWAY_SERVER_PEERS_PEER_REGISTRY_H_

#include <string>
#include <tuple>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "core/selector/labels.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "server/peers/peer_table.h"
#include "server/peers/report.h"

namespace slipway::server {

// An agent or worker as it described itself.
struct RegisteredPeer {
  Supply supply;
  int capacity = 0;
  v1::DeviceDescription description;  // Of an agent's device.
  std::string version;
  absl::optional<v1::AgentUpdate> update;    // Of an agent that takes offers.
  absl::optional<v1::MachineState> machine;  // As last told.
  absl::btree_set<std::string> active;       // Leases its last report said it works on.
  absl::Time last_seen;                      // Wall clock.
  absl::Duration heard_at;                   // Monotonic; of a restored one, when it was restored.
};

// The device of an agent; nullptr for a worker.
const DeviceSupply* DeviceOf(const RegisteredPeer& peer);

// What is answered to whoever names a device that is not known: NOT_FOUND.
absl::Status NoSuchDevice(absl::string_view id);

// Peers are named by keys of names.h. Not thread-safe.
class PeerRegistry {
 public:
  explicit PeerRegistry(absl::Duration silence);

  // Takes in a device kept from before; its agent counts as lost until it reports. A device whose target or
  // versions cannot be read any more is dropped; of two of one agent, the one seen last stays, and the id of the other
  // is returned: it need not be kept any more.
  std::string Restore(const v1::Device& device, absl::Duration now);

  // A peer that is not known any more.
  struct Forgotten {
    std::string peer;
    std::string
        device;  // It is not to be kept any more; empty: there was none, or another agent has it.
  };
  struct Taken {
    ReportKind kind;
    bool device_changed = false;  // It is to be kept anew.
    bool update_changed = false;  // What its agent says of its binary; the same.
    std::string device_gone;      // The agent has another one now in place of this; empty: none.
    std::vector<Forgotten> forgotten;  // For this peer.
  };
  // Takes in a report. ALREADY_EXISTS as of PeerTable, or when the device belongs to another agent that is there.
  // Where kMaxPeers are known, forgets one for a new one: of those that are lost, have been silent for
  // kLeastPeerRetention and for which `holds_lease` is false, the one silent longest. RESOURCE_EXHAUSTED when there is
  // none.
  absl::StatusOr<Taken> Take(const Report& report, absl::Time wall, absl::Duration now,
                             absl::FunctionRef<bool(absl::string_view peer)> holds_lease);

  PeerTable& table() { return table_; }
  const PeerTable& table() const { return table_; }

  // nullptr when unknown.
  const RegisteredPeer* Find(absl::string_view peer) const;
  // The agent that has a device; empty when none is known.
  std::string AgentOfDevice(absl::string_view device_id) const;
  const absl::btree_map<std::string, RegisteredPeer>& peers() const { return peers_; }

  // What lists show, but for what only the jobs tell. REQUIRES: of an agent, of a worker.
  v1::Device ShowDevice(absl::string_view peer, absl::Duration now) const;
  v1::Worker ShowWorker(absl::string_view peer, absl::Duration now) const;

  // Gives a device labels and then takes those of these keys away; returns all that administrators have given it. NOT_FOUND when it is not known;
  // INVALID_ARGUMENT, and nothing is changed, when it would have more than kMaxLabels.
  absl::StatusOr<Labels> ChangeLabels(absl::string_view device_id, const Labels& given,
                                      absl::Span<const std::string> removed);

  void Forget(absl::string_view peer);
  // Forgets those that are lost and were not seen for long, agents and workers.
  std::vector<Forgotten> ForgetUnseen(absl::Time wall, absl::Duration now);

 private:
  // Sorts by silence: when it was heard, and of those that were restored together, when it was seen before.
  using Silence = std::tuple<absl::Duration, absl::Time, std::string>;

  // Forgets whom Take may, until there is room for one more.
  absl::Status MakeRoom(absl::Duration now,
                        absl::FunctionRef<bool(absl::string_view peer)> holds_lease,
                        std::vector<Forgotten>& forgotten);
  // Whether it has been silent long enough to make room, as far as its reports say.
  bool MayMakeRoom(const std::string& key, absl::Duration now) const;
  // Puts together what selectors know of its device.
  void Characterize(RegisteredPeer& agent) const;
  // Its device, if any, is not to be kept.
  Forgotten ForgetWithDevice(const std::string& key);
  // What changes a peer's heard_at or last_seen does so between these two.
  void Unlist(const std::string& key, const RegisteredPeer& peer);
  void List(const std::string& key, const RegisteredPeer& peer);

  PeerTable table_;
  absl::btree_map<std::string, RegisteredPeer> peers_;
  absl::btree_map<std::string, std::string> by_device_;  // Peers.
  absl::btree_map<std::string, Labels> labels_;          // Of administrators, by device.
  absl::btree_set<Silence> by_silence_;                  // All of peers_.
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_PEERS_PEER_REGISTRY_H_
