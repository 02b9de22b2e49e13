// FleetAgents: many agents in one process, which call a server as slipway-agent does, and invent the results of their runs.
#ifndef SLIPWAY_TESTS_LOAD_GRPC_FLEET_AGENTS_H_
#define SLIPWAY_TESTS_LOAD_GRPC_FLEET_AGENTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "tests/load/fleet_ledger.h"
#include "tests/load/grpc_fleet_door.h"

namespace slipway::testing {

// What became of calls of Sync.
struct SyncCounts {
  int64_t answered = 0;
  int64_t failed = 0;  // Neither answered nor cancelled by the agent.
  // From the begin to the answer of those to be answered at once: first ones, and those that carry a result.
  std::vector<absl::Duration> at_once;
};

// Calls from Come to destruction. Thread-safe.
class FleetAgents {
 public:
  struct Options {
    int agents = 0;
    // A run takes up to this; the time is drawn evenly.
    absl::Duration longest_work = absl::Milliseconds(20);
    uint64_t seed = 1;
  };
  // Door and ledger must outlive this.
  static std::unique_ptr<FleetAgents> Create(const Options& options, const FleetDoor* door,
                                             FleetLedger* ledger);
  virtual ~FleetAgents() = default;

  // All begin to call, a few at a time, each of the others when one of them was answered.
  virtual void Come() = 0;

  // Since the last call of this.
  virtual SyncCounts TakeCounts() = 0;
};

}  // namespace slipway::testing

#endif  // SLIPWAY_TESTS_LOAD_GRPC_FLEET_AGENTS_H_
