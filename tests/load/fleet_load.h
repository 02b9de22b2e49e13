// A load run: a real server, many simulated agents, clients that ask for jobs at a steady rate, and what came of it all.
#ifndef SLIPWAY_TESTS_LOAD_FLEET_LOAD_H_
#define SLIPWAY_TESTS_LOAD_FLEET_LOAD_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "tests/load/fleet_report.h"

namespace slipway::testing {

// How agents and clients reach the server: over TLS, each as who he has joined; over TCP without; over a unix socket.
enum class FleetTransport { kTls, kPlain, kUnix };
absl::string_view FleetTransportName(FleetTransport transport);
std::optional<FleetTransport> FleetTransportNamed(absl::string_view name);

struct FleetLoadOptions {
  FleetTransport transport = FleetTransport::kTls;
  int agents = 5'000;
  int clients = 16;
  double jobs_per_second = 500;
  absl::Duration load = absl::Seconds(60);
  // Agents are watched for so long before the first job.
  absl::Duration idle = absl::Seconds(5);
  // A run takes up to this on its device.
  absl::Duration longest_work = absl::Milliseconds(20);
  // So long after the load began, the server is killed, and started again.
  std::optional<absl::Duration> restart_after;
  // Jobs that wait when nothing has ended for this long, after the load, are given up.
  absl::Duration patience = absl::Seconds(60);
  std::vector<std::string> server_flags;
  uint64_t seed = 1;
  // Told what is under way, for people. May be empty.
  std::function<void(absl::string_view)> tell;
  // Ends the run, with CANCELLED. May be null.
  const absl::Notification* stop = nullptr;
};

// Errors are of the run itself: that the server does not start, that not all agents come, that it cannot list its jobs. Whatever
// way it ends, its processes and folders go.
absl::StatusOr<FleetReport> RunFleetLoad(const FleetLoadOptions& options);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LOAD_FLEET_LOAD_H_
