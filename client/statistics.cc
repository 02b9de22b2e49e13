#include "client/statistics.h"

#include <algorithm>
#include <vector>

#include "core/base/check.h"

namespace slipway {

SampleStatistics Summarize(absl::Span<const int64_t> samples_ns, int64_t iterations_per_sample) {
  SLIPWAY_CHECK(!samples_ns.empty() && iterations_per_sample > 0, "no samples");
  std::vector<int64_t> sorted(samples_ns.begin(), samples_ns.end());
  std::sort(sorted.begin(), sorted.end());
  const auto percentile = [&](size_t percent) {
    const size_t rank = (sorted.size() * percent + 99) / 100;
    return static_cast<double>(sorted[rank - 1]) / static_cast<double>(iterations_per_sample);
  };
  SampleStatistics statistics;
  statistics.min_ns =
      static_cast<double>(sorted.front()) / static_cast<double>(iterations_per_sample);
  statistics.p50_ns = percentile(50);
  statistics.p90_ns = percentile(90);
  if (sorted.size() >= 100) statistics.p99_ns = percentile(99);
  return statistics;
}

}  // namespace slipway
