// What a peer (an agent or a worker) says of itself and is told, whichever door it came through: a report, and the
// leases it should hold.
#ifndef SLIPWAY_SERVER_PEERS_REPORT_H_
#define SLIPWAY_SERVER_PEERS_REPORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/optional.h"
#include "proto/slipway/v1/agent.pb.h"
#include "proto/slipway/v1/fleet.pb.h"
#include "proto/slipway/v1/job.pb.h"
#include "server/devices/device_record.pb.h"
#include "server/jobs/job_state.h"
#include "server/peers/peer_call.h"
#include "server/scheduler/scheduler.h"

namespace slipway::server {

// A lease as its holder sees it.
struct LeaseReport {
  enum class Stage {
    kUnknown,  // Nothing follows from it, but that it is held.
    kPreparing,
    kRunning,
    kSucceeded,
    kFailed,
    kStopped,  // Because the server no longer wanted it.
  };
  std::string id;
  Stage stage = Stage::kUnknown;
  absl::optional<v1::JobProgress> progress;
  absl::optional<JobResult> result;  // When kSucceeded, unless it was left out.
  v1::JobError error;                // When kFailed; a code that is one, bounded texts.
  bool retriable = false;            // When kFailed.
};

// The state a peer is in.
struct Report {
  PeerCall call;
  std::string version;          // Of the program it is.
  std::string applied_version;  // Of the DesiredState it has applied.
  Supply supply;
  int capacity = 0;                   // Leases at a time.
  v1::DeviceDescription description;  // Of an agent's device.
  std::vector<LeaseReport> leases;
  bool is_leaving = false;                   // It is the last of its instance.
  absl::optional<v1::AgentUpdate> update;    // Of an agent that takes offers.
  absl::optional<v1::MachineState> machine;  // When it is told anew.
};

// A lease as its holder is told of it.
struct Assignment {
  std::string id;
  std::string job_id;
  std::string request_id;  // The job's.
  std::string assignee;
  v1::Job spec;  // Of the job, and nothing else of it.
  int64_t deadline_ns = 0;
  std::string compile_key;  // Of a compilation.
  // Of a run or benchmark the manifest and the small blobs that go along, of a session its lease; nothing else is set.
  v1::RunAssignment along;
};

// The state the server wants a peer to be in.
struct DesiredState {
  std::string version;  // Equal for equal leases.
  std::vector<std::shared_ptr<const Assignment>> leases;
  absl::Duration silence;        // It may be silent for so long.
  absl::Duration return_within;  // Who loses the server comes back within this; of agents.
  std::string log_level;         // What its log is to show; empty: what it was started with.
  std::shared_ptr<const AgentOfferRecord> offer;  // That an agent is to take; may be null.
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_PEERS_REPORT_H_
