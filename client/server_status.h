// ServerStatus: what a server is doing, in sums.
#ifndef SLIPWAY_CLIENT_SERVER_STATUS_H_
#define SLIPWAY_CLIENT_SERVER_STATUS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace slipway {

// What a server does not begin for now, and why.
struct ServerRefusal {
  std::string
      cause;  // "memory", "store", "queue", "connections", "workers"; "unknown" of a server of a later version.
  std::string message;
};

// Jobs that have not ended.
struct JobSum {
  std::string kind;
  std::string state;  // As Name(JobState): "queued".
  int64_t count = 0;
};

enum class WaitsFor { kWorker, kNamedDevice, kAnyDevice, kUnknown };
absl::string_view Name(WaitsFor need);  // "worker", "named device", "any device", "something else"

struct WaitingSum {
  WaitsFor need = WaitsFor::kUnknown;
  int64_t count = 0;
  absl::Duration longest;  // Of the one that was accepted first.
};

// See ServerStatus in server.proto.
struct ServerStatus {
  std::string version;
  absl::Duration uptime;
  std::string log_level;
  std::vector<ServerRefusal> refusals;
  std::vector<JobSum> jobs;
  std::vector<WaitingSum> waiting;
  int64_t max_queued_jobs = 0;
  int64_t devices_idle = 0, devices_busy = 0, devices_lost = 0;
  int64_t workers_present = 0, workers_lost = 0;
  int64_t worker_places = 0, worker_places_taken = 0;
  int64_t memory_bytes = 0, memory_limit_bytes = 0;
  int64_t descriptors = 0, max_descriptors = 0;
  int64_t connections = 0, max_connections = 0;
  int64_t waiting_calls = 0;
  int64_t blob_bytes = 0, blob_quota_bytes = 0, disk_free_bytes = 0;
  // Counters since the server began, by name, in the order of server.proto.
  std::vector<std::pair<std::string, int64_t>> counters;

  // It begins whatever is asked for.
  bool is_healthy() const { return refusals.empty(); }
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_SERVER_STATUS_H_
