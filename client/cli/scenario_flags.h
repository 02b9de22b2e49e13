// ScenarioFlags: how the calls of a benchmark come.
#ifndef SLIPWAY_CLIENT_CLI_SCENARIO_FLAGS_H_
#define SLIPWAY_CLIENT_CLI_SCENARIO_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/types.h"
#include "core/base/flags.h"

namespace slipway::cli {

struct ScenarioFlags {
  std::string scenario;
  int64_t calls = 0;
  int64_t instances = 0;
  std::string qps;
  absl::Duration latency_bound;
  std::string percentile;
  bool find_qps = false;

  void AddTo(FlagSet& flags);
  // Absent without "--scenario"; a wrong call for flags of another scenario, or out of range.
  absl::StatusOr<std::optional<Scenario>> Read(const FlagSet& flags) const;
};

// Samples to take of a scenario where nobody says how many: of the server's what ten seconds bring, and at least as many as
// the percentile needs, several times as many in a search, since latencies depend on each other. Pure.
int64_t DefaultSamples(const std::optional<Scenario>& scenario);

// An error unless the result is of the scenario that was asked for: agents and servers from before scenarios pass them over.
absl::Status CheckScenarioTaken(const std::optional<Scenario>& asked,
                                const BenchmarkResult& result);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_SCENARIO_FLAGS_H_
