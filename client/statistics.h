// What is shown of a benchmark's samples.
#ifndef SLIPWAY_CLIENT_STATISTICS_H_
#define SLIPWAY_CLIENT_STATISTICS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/statistics/estimate.h"
#include "core/statistics/modes.h"

namespace slipway {

// Nanoseconds of one call. Percentiles are those of EstimateQuantile (core/statistics/quantile.h), with intervals at a
// confidence of 0.95.
struct SampleStatistics {
  double min_ns = 0;
  Estimate p50_ns;
  // Absent where the sample does not support them: where there is no interval.
  std::optional<Estimate> p90_ns, p99_ns;
  double lag1_autocorrelation = 0;
  double effective_samples = 0;   // Independent ones that would tell as much of the mean.
  std::optional<TwoModes> modes;  // At least 1 % apart.
};

// `samples_ns` in the order of time. REQUIRES: samples is not empty, iterations_per_sample > 0.
SampleStatistics Summarize(absl::Span<const int64_t> samples_ns, int64_t iterations_per_sample);

// What whoever reads the numbers should know of the samples, a line each, without newlines; none if all is well.
std::vector<std::string> Remarks(const SampleStatistics& statistics);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_STATISTICS_H_
