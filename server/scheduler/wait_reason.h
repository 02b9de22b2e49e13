// Why a job that waits has not begun: a pure function of what is.
#ifndef SLIPWAY_SERVER_SCHEDULER_WAIT_REASON_H_
#define SLIPWAY_SERVER_SCHEDULER_WAIT_REASON_H_

#include <vector>

#include "absl/time/time.h"
#include "proto/slipway/v1/queue.pb.h"
#include "server/caller.h"
#include "server/devices/device_record.pb.h"
#include "server/devices/reservations.h"
#include "server/jobs/job_record.pb.h"
#include "server/scheduler/scheduler.h"

namespace slipway::server {

// What decides whether jobs wait for a device.
struct DeviceView {
  const DeviceSupply* supply = nullptr;
  bool is_lost = false;
  bool has_room = false;                     // It works on nothing.
  absl::Time last_seen;                      // Wall clock.
  const JobRecord* holder = nullptr;         // Whose lease it has, if any.
  const DeviceStanding* standing = nullptr;  // Null: open.
  Reservations::Ahead reserved;
};

// The same of a worker.
struct WorkerView {
  const TargetFingerprints* targets = nullptr;
  bool is_lost = false;
  bool has_room = false;
};

// Refers to what it is a view of.
struct FleetView {
  std::vector<DeviceView> devices;
  std::vector<WorkerView> workers;
};

// Of a job that waits; with the names of all jobs. Of several devices that fit, the one tells that will take it first as far as is known: a free
// one, then the one whose holder must end first, then one that somebody must do something about.
v1::WaitReason ReasonOf(const WaitingJob& job, const FleetView& fleet, absl::Time now);

// Leaves out the names of what is not the caller's.
void HideNames(const Caller& caller, v1::WaitReason& reason);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SCHEDULER_WAIT_REASON_H_
