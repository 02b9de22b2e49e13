// slipway bench on many devices at once.
#ifndef SLIPWAY_CLIENT_CLI_BENCH_FLEET_H_
#define SLIPWAY_CLIENT_CLI_BENCH_FLEET_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/cli/environment.h"
#include "client/cli/run_flags.h"
#include "client/client.h"
#include "core/base/flags.h"

namespace slipway::cli {

struct FleetFlags {
  std::string devices;
  bool each = false;
  int64_t spread = 0;

  void AddTo(FlagSet& flags);
  // Whether many devices are meant.
  bool is_set() const { return each || !devices.empty() || spread > 0; }
};

// A wrong call where flags exclude each other. `wants_more`: than the speed of calls that follow each other.
absl::Status CheckFleet(const FleetFlags& fleet, const RunFlags& run, bool wants_more);

// Measures `path`, a model or artifact, on the devices that `fleet` says, and prints what came of it. An error unless all were measured, or as
// many as the spread.
absl::Status BenchFleet(Environment& environment, const RunFlags& run, const FleetFlags& fleet,
                        const BenchmarkOptions& options, const std::string& path);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_BENCH_FLEET_H_
