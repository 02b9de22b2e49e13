// What a benchmark did with its program, on a timeline.
#ifndef SLIPWAY_CLIENT_TRACE_PROGRAM_TIMELINE_H_
#define SLIPWAY_CLIENT_TRACE_PROGRAM_TIMELINE_H_

#include "absl/time/time.h"
#include "client/artifact_summary.h"
#include "client/trace/timeline.h"
#include "client/types.h"

namespace slipway {

// All samples together, or the whole of a scenario whose samples overlap.
absl::Duration SamplesLength(const BenchmarkResult& result);

// Loads, samples, the machine's state, and one call with its steps and kernels. Measuring began at `start`, the samples at `begin`.
void AddMeasurement(const BenchmarkResult& result, const ArtifactSummary& program, absl::Time start,
                    absl::Time begin, Timeline& timeline);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_TRACE_PROGRAM_TIMELINE_H_
