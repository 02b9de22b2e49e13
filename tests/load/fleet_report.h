// FleetReport: what a load run measured, and how it is shown. Pure.
#ifndef SLIPWAY_TESTS_LOAD_FLEET_REPORT_H_
#define SLIPWAY_TESTS_LOAD_FLEET_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "tests/load/fleet_ledger.h"

namespace slipway::testing {

struct FleetReport {
  std::string transport;
  int64_t agents = 0;  // Wanted.
  int64_t agents_connected =
      0;  // That the server said were there when the load began, and when it had ended the fewer of both.
  double wanted_jobs_per_second = 0;
  absl::Duration load;     // How long jobs were asked for.
  absl::Duration connect;  // Until all agents were there.
  FleetVerdict verdict;
  FleetTimes times;
  // Calls of Sync that the server was to answer at once, from their begin to their answer; sorted.
  std::vector<absl::Duration> sync;
  int64_t sync_calls = 0;  // All that were answered during the load.
  int64_t sync_failed =
      0;  // Calls that ended with an error the server is to blame for, restarts apart.
  int64_t refused =
      0;  // Times that a request was to come later, since the server had too much to do.
  std::vector<int64_t>
      rss_mib;  // Of the server, at even times from the begin of the load to its end.
  int64_t peak_rss_mib = 0;
  int64_t database_mib = 0;
  // Processor time of the server: before the load, in so much time of idle agents, and during it.
  absl::Duration idle;
  absl::Duration idle_cpu;
  absl::Duration load_cpu;
  // Of the simulation itself during the load.
  absl::Duration own_cpu;
  // From the server's death until all agents were there again.
  std::optional<absl::Duration> recovered;
  bool has_recovered = true;  // False: they were not.
};

// Times in sorted order: that which `percent` of them do not exceed; zero for none.
absl::Duration PercentileOf(absl::Span<const absl::Duration> sorted, double percent);

std::string ReportJson(const FleetReport& report);
std::string ReportText(const FleetReport& report);

// 0, or 1 when jobs were lost or doubled, or agents did not come back.
int ReportExitCode(const FleetReport& report);

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LOAD_FLEET_REPORT_H_
