#include "client/throughput.h"

#include <algorithm>
#include <vector>

#include "core/base/check.h"
#include "core/statistics/centre.h"

namespace slipway {
namespace {

constexpr size_t kBatches = 20;

}  // namespace

double CallsPerSecond(int64_t calls, absl::Duration duration) {
  return static_cast<double>(calls) / absl::ToDoubleSeconds(duration);
}

Estimate OfflineThroughput(absl::Span<const int64_t> ends_ns, int64_t calls_per_group) {
  SLIPWAY_CHECK(!ends_ns.empty() && calls_per_group > 0, "no groups");
  const auto calls = static_cast<int64_t>(ends_ns.size()) * calls_per_group;
  Estimate throughput = {
      .value = CallsPerSecond(calls, absl::Nanoseconds(std::max<int64_t>(1, ends_ns.back()))),
      .interval = std::nullopt};
  if (ends_ns.size() < kBatches) return throughput;
  std::vector<double> rates;
  size_t begin = 0;
  int64_t begin_ns = 0;
  for (size_t batch = 1; batch <= kBatches; ++batch) {
    const size_t end = ends_ns.size() * batch / kBatches;
    const int64_t end_ns = ends_ns[end - 1];
    // Groups of several instances may end at once.
    if (end_ns <= begin_ns) return throughput;
    rates.push_back(CallsPerSecond(static_cast<int64_t>(end - begin) * calls_per_group,
                                   absl::Nanoseconds(end_ns - begin_ns)));
    begin = end;
    begin_ns = end_ns;
  }
  throughput.interval = EstimateCentre(rates, 0.95).interval;
  return throughput;
}

}  // namespace slipway
