// Where the steps of a profiled call stand in it. Pure.
#ifndef SLIPWAY_CLIENT_TRACE_PLACED_STEPS_H_
#define SLIPWAY_CLIENT_TRACE_PLACED_STEPS_H_

#include <cstddef>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/artifact_summary.h"
#include "client/types.h"

namespace slipway {

struct PlacedStep {
  size_t number = 0;  // In the profile.
  const ArtifactSummary::Step* step = nullptr;
  absl::Duration
      begin;      // From the begin of the call, as if steps followed each other without a pause.
  int depth = 0;  // How many steps hold it.
};

// All steps of `profile` in the order in which the entry function does them, steps of a branch or loop behind the one that holds
// them and within its time. Left out are those of a function that several steps run, whose times are sums over all of them. Empty where
// `program`, which must outlive the result, has not these steps.
std::vector<PlacedStep> PlaceSteps(absl::Span<const StepTime> profile,
                                   const ArtifactSummary& program);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_TRACE_PLACED_STEPS_H_
