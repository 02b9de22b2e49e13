// Check: what a device computes, held against the reference evaluator.
#ifndef SLIPWAY_CLIENT_CLI_CHECK_H_
#define SLIPWAY_CLIENT_CLI_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/cli/environment.h"
#include "client/cli/run_flags.h"
#include "client/output_check.h"
#include "core/base/flags.h"
#include "core/tensor/tensor.h"

namespace slipway::cli {

struct CheckFlags {
  bool check = false;
  std::string against;
  std::string tolerance;

  void AddTo(FlagSet& flags);
  bool IsWanted() const { return check || !against.empty(); }
  // A wrong call for what cannot be checked; `path` is the model or artifact.
  absl::Status Check(const std::string& path, const RunFlags& run) const;
};

// Inputs that a run is not given are made here as its device would make them, so that both sides have the same. In the
// program's order.
absl::StatusOr<std::vector<NamedTensor>> CompleteInputs(const ArtifactSummary& artifact,
                                                        absl::Span<const NamedTensor> given,
                                                        uint64_t seed);

// Holds what the program gave for the run's inputs against what its model gives, which a worker of the server evaluates.
absl::StatusOr<OutputCheck> CheckAgainstModel(Environment& environment, const CheckFlags& flags,
                                              const RunFlags& run_flags, const PreparedRun& run,
                                              absl::Span<const NamedTensor> outputs);

// A run of the program, checked before it is measured: an error of RefuseWrong, with nothing to be shown, if it is wrong. `run` is
// then for the device that it ran on.
absl::StatusOr<OutputCheck> RunChecked(Environment& environment, const CheckFlags& flags,
                                       const RunFlags& run_flags, PreparedRun& run);

// FAILED_PRECONDITION, for which the command ends with 1, unless the check is passed.
absl::Status RefuseWrong(const OutputCheck& check);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_CHECK_H_
