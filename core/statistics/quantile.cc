#include "core/statistics/quantile.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/base/check.h"
#include "core/statistics/autocorrelation.h"

namespace slipway {
namespace {

// Places among samples in their order, from 1.
struct Ranks {
  int64_t low = 0;
  int64_t high = 0;
};

// Of n independent samples those at these ranks lie on both sides of the quantile, but for `tail` on each.
std::optional<Ranks> RanksAround(int64_t n, double p, double tail) {
  Ranks ranks;
  const double odds = std::log(p) - std::log1p(-p);
  double log_probability = static_cast<double>(n) * std::log1p(-p);  // Of k below.
  double sum = 0;                                                    // Of k or fewer.
  for (int64_t k = 0; k < n; ++k) {
    sum += std::exp(log_probability);
    if (sum <= tail) ranks.low = k + 1;
    if (sum >= 1 - tail) {
      ranks.high = k + 1;
      break;
    }
    log_probability +=
        std::log(static_cast<double>(n - k)) - std::log(static_cast<double>(k + 1)) + odds;
  }
  if (ranks.low == 0 || ranks.high == 0) return std::nullopt;
  return ranks;
}

}  // namespace

Estimate EstimateQuantile(absl::Span<const double> series, double p, double confidence) {
  SLIPWAY_CHECK(!series.empty() && p > 0 && p < 1 && confidence > 0 && confidence < 1,
                "no sample, or no share");
  std::vector<double> sorted(series.begin(), series.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<int64_t>(sorted.size());
  const auto at = [&](int64_t rank) { return sorted[static_cast<size_t>(rank - 1)]; };
  // Less than the error of p itself, lest 0.9 of 100 be the 91st.
  const double rank = std::ceil(static_cast<double>(n) * p - 1e-9);
  Estimate estimate{.value = at(std::clamp<int64_t>(static_cast<int64_t>(rank), 1, n)),
                    .interval = std::nullopt};
  std::vector<double> is_not_above;
  is_not_above.reserve(sorted.size());
  for (const double sample : series) is_not_above.push_back(sample <= estimate.value ? 1 : 0);
  const auto effective = static_cast<int64_t>(static_cast<double>(n) / Inefficiency(is_not_above));
  const std::optional<Ranks> ranks = RanksAround(effective, p, (1 - confidence) / 2);
  if (!ranks.has_value()) return estimate;
  // Outwards, where a sample counts as a part of one.
  const int64_t low = std::max<int64_t>(1, ranks->low * n / effective);
  const int64_t high = std::min(n, (ranks->high * n + effective - 1) / effective);
  estimate.interval = {at(low), at(high)};
  return estimate;
}

int64_t SamplesForQuantile(double p, double confidence) {
  const double tail = (1 - confidence) / 2;
  return static_cast<int64_t>(std::ceil(std::log(tail) / std::log(std::max(p, 1 - p))));
}

}  // namespace slipway
