// What is shown of a benchmark's samples.
#ifndef SLIPWAY_CLIENT_STATISTICS_H_
#define SLIPWAY_CLIENT_STATISTICS_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace slipway {

// Nanoseconds of one call. Percentiles are by nearest rank: the smallest sample that so many percent of all
// are not above.
struct SampleStatistics {
  double min_ns = 0;
  double p50_ns = 0;
  double p90_ns = 0;
  std::optional<double> p99_ns;  // From 100 samples on.
};

// REQUIRES: samples is not empty, iterations_per_sample > 0.
SampleStatistics Summarize(absl::Span<const int64_t> samples_ns, int64_t iterations_per_sample);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_STATISTICS_H_
