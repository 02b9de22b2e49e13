#include "client/statistics.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_format.h"
#include "core/base/check.h"
#include "core/base/text_table.h"
#include "core/statistics/autocorrelation.h"
#include "core/statistics/quantile.h"

namespace slipway {
namespace {

constexpr double kLeastBetweenModes = 0.01;
// Less correlation than this halves nothing.
constexpr double kMuchCorrelation = 0.3;

}  // namespace

SampleStatistics Summarize(absl::Span<const int64_t> samples_ns, int64_t iterations_per_sample) {
  SLIPWAY_CHECK(!samples_ns.empty() && iterations_per_sample > 0, "no samples");
  std::vector<double> series;
  series.reserve(samples_ns.size());
  for (const int64_t ns : samples_ns) {
    series.push_back(static_cast<double>(ns) / static_cast<double>(iterations_per_sample));
  }
  SampleStatistics statistics;
  statistics.min_ns = *std::min_element(series.begin(), series.end());
  statistics.p50_ns = EstimateQuantile(series, 0.5);
  const auto supported = [&](double p) -> std::optional<Estimate> {
    const Estimate estimate = EstimateQuantile(series, p);
    return estimate.interval.has_value() ? std::make_optional(estimate) : std::nullopt;
  };
  statistics.p90_ns = supported(0.9);
  statistics.p99_ns = supported(0.99);
  statistics.lag1_autocorrelation = Lag1Autocorrelation(series);
  statistics.effective_samples = static_cast<double>(series.size()) / Inefficiency(series);
  statistics.modes = FindTwoModes(series);
  if (statistics.modes.has_value() &&
      statistics.modes->high < statistics.modes->low * (1 + kLeastBetweenModes)) {
    statistics.modes.reset();
  }
  return statistics;
}

std::vector<std::string> Remarks(const SampleStatistics& statistics) {
  std::vector<std::string> remarks;
  if (statistics.lag1_autocorrelation > kMuchCorrelation) {
    remarks.push_back(
        absl::StrFormat("samples depend on each other (lag-1 %.1f) and tell as much as %.0f",
                        statistics.lag1_autocorrelation, statistics.effective_samples));
  }
  if (const auto& modes = statistics.modes; modes.has_value()) {
    remarks.push_back(absl::StrFormat("two modes: about %s, and %s in %.0f %% of the samples",
                                      FormatTime(absl::Nanoseconds(modes->low)),
                                      FormatTime(absl::Nanoseconds(modes->high)),
                                      modes->share_high * 100));
  }
  return remarks;
}

}  // namespace slipway
