// Two programs timed in turns on a device that is held meanwhile.
#ifndef SLIPWAY_CLIENT_CLI_TURNS_H_
#define SLIPWAY_CLIENT_CLI_TURNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/artifact_summary.h"
#include "client/cli/connection.h"
#include "client/cli/environment.h"
#include "client/comparison.h"
#include "core/tensor/tensor.h"

namespace slipway::cli {

struct Turns {
  ArtifactSummary a, b;             // Which the server has.
  std::vector<NamedTensor> inputs;  // Of both, by their names in A; others are random, from `seed`.
  uint64_t seed = 0;
  int threads = 1;
  std::string device;                  // Empty: any.
  std::string purpose;                 // Others who wait for the device see it.
  std::vector<std::string> tags = {};  // "KEY=VALUE", of the session.
  int64_t priority = 0;                // Of the session.
  ComparisonOptions options;
};

struct TurnsResult {
  Comparison comparison;
  std::string device;
};

// INVALID_ARGUMENT, with what they take, unless both take the same inputs.
absl::Status CheckTakesTheSame(const ArtifactSummary& a, const ArtifactSummary& b);

// Opens a session and compares both in it, showing progress. CANCELLED on an interrupt; errors of OpenDevice, of the session
// and of ComparePrograms. REQUIRES: CheckTakesTheSame.
absl::StatusOr<TurnsResult> RunTurns(Environment& environment, Connection& connection,
                                     const Turns& turns);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_TURNS_H_
