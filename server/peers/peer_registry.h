// PeerRegistry: what the server believes about agents, with their devices, and workers. Soft state, rebuilt from what
// they report; descriptions of devices are kept over restarts by a DeviceStore.
#ifndef SLIPWAY_SERVER_PEERS_PEER_REGISTRY_H_
#define SLIPWAY_SERVER_PEERS_PEER_REGISTRY_H_

#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
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
  absl::btree_set<std::string> active;  // Leases its last report said it works on.
  absl::Time last_seen;                 // Wall clock.
};

// The device of an agent; nullptr for a worker.
const DeviceSupply* DeviceOf(const RegisteredPeer& peer);

// Peers are named by keys of names.h. Not thread-safe.
class PeerRegistry {
 public:
  explicit PeerRegistry(absl::Duration silence);

  // Takes in a device kept from before; its agent counts as lost until it reports. A device whose target or
  // versions cannot be read any more is dropped; of two of one agent, the one seen last stays.
  void Restore(const v1::Device& device);

  struct Taken {
    ReportKind kind;
    bool device_changed = false;  // It is to be kept anew.
    std::string device_gone;      // The agent has another one now in place of this; empty: none.
  };
  // Takes in a report. ALREADY_EXISTS as of PeerTable, or when the device belongs to another agent that is there.
  // RESOURCE_EXHAUSTED when too many peers are known.
  absl::StatusOr<Taken> Take(const Report& report, absl::Time wall, absl::Duration now);

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

  void Forget(absl::string_view peer);
  // Forgets those that are lost and were not seen for long, agents and workers; returns the ids of devices.
  std::vector<std::string> ForgetUnseen(absl::Time wall, absl::Duration now);

 private:
  PeerTable table_;
  absl::btree_map<std::string, RegisteredPeer> peers_;
  absl::btree_map<std::string, std::string> by_device_;  // Peers.
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_PEERS_PEER_REGISTRY_H_
