// DeviceRegistry: what the server believes about devices. Soft state, rebuilt from what agents report;
// descriptions are kept over restarts by a DeviceStore.
#ifndef SLIPWAY_SERVER_DEVICES_DEVICE_REGISTRY_H_
#define SLIPWAY_SERVER_DEVICES_DEVICE_REGISTRY_H_

#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "server/devices/can_run.h"
#include "server/peers/peer_table.h"

namespace slipway::server {

// A device as its agent described it.
struct RegisteredDevice {
  v1::DeviceDescription description;
  DeviceOffer offer;
  std::string agent_id;
  std::string agent_version;
  absl::Time last_seen;  // Wall clock.
};

// Not thread-safe.
class DeviceRegistry {
 public:
  explicit DeviceRegistry(absl::Duration silence);

  // Takes in a device kept from before; its agent counts as lost until it reports. A device whose target or
  // versions cannot be read any more is dropped.
  void Restore(const v1::Device& device);

  struct Reported {
    ReportKind kind;
    bool description_changed = false;  // It is to be kept anew.
  };
  // Takes in a report from `address`. INVALID_ARGUMENT names what is malformed; FAILED_PRECONDITION when no
  // common version of the protocol is spoken; ALREADY_EXISTS as of PeerTable, or when the device belongs to
  // another agent that is there.
  absl::StatusOr<Reported> Report(const v1::AgentState& state, absl::string_view address,
                                  absl::Time wall, absl::Duration now);

  PeerTable& agents() { return agents_; }
  const PeerTable& agents() const { return agents_; }

  // nullptr when unknown.
  const RegisteredDevice* Find(absl::string_view device_id) const;
  // The devices of an agent.
  std::vector<const RegisteredDevice*> DevicesOf(absl::string_view agent_id) const;
  const absl::btree_map<std::string, RegisteredDevice>& devices() const { return devices_; }

  // Attempts the agent's last report said it works on.
  const absl::btree_set<std::string>& ActiveAttempts(absl::string_view agent_id) const;

  // What lists show. The caller, who knows the jobs, sets state and job_id of devices that work.
  v1::Device Show(const RegisteredDevice& device, absl::Duration now) const;

  // Forgets devices not seen since `time`; returns their ids.
  std::vector<std::string> ForgetUnseenSince(absl::Time time);

 private:
  // What belongs to an agent. One without devices is forgotten.
  struct Holdings {
    absl::btree_set<std::string> devices;
    absl::btree_set<std::string> active;  // Attempts.
  };
  // Makes a device, known or new, that of an agent.
  RegisteredDevice& Put(const std::string& device_id, const std::string& agent_id);
  void Erase(const std::string& device_id);
  void Release(const std::string& device_id, const std::string& agent_id);

  PeerTable agents_;
  absl::btree_map<std::string, RegisteredDevice> devices_;
  absl::btree_map<std::string, Holdings> holdings_;  // By agent.
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_DEVICES_DEVICE_REGISTRY_H_
