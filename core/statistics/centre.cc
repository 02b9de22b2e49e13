#include "core/statistics/centre.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/base/check.h"
#include "core/statistics/autocorrelation.h"

namespace slipway {
namespace {

constexpr size_t kMaxSamples = 4096;
constexpr size_t kMaxExact = 50;

// How many standard deviations a normal variable is above its mean with probability `tail`.
double NormalDistance(double tail) {
  double low = -40;
  double high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > tail ? low : high) = middle;
  }
  return low;
}

// The largest k such that the sum of the ranks of positive samples, of n that lie about 0, is below k with
// probability `tail` at most; 0 where there is none.
double SignedRank(size_t n, double tail) {
  const auto size = static_cast<double>(n);
  if (n > kMaxExact) {
    const double deviation = std::sqrt(size * (size + 1) * (2 * size + 1) / 24);
    return std::max(0.0,
                    std::floor(size * (size + 1) / 4 + 0.5 - NormalDistance(tail) * deviation));
  }
  // Share of the 2^n choices of signs that give each sum.
  std::vector<double> shares(n * (n + 1) / 2 + 1);
  shares[0] = 1;
  for (size_t rank = 1; rank <= n; ++rank) {
    for (size_t sum = shares.size(); sum-- > 0;) {
      shares[sum] = (shares[sum] + (sum >= rank ? shares[sum - rank] : 0)) / 2;
    }
  }
  double below = 0;
  size_t k = 0;
  while (k < shares.size() && below + shares[k] <= tail) below += shares[k++];
  return static_cast<double>(k);
}

}  // namespace

Estimate EstimateCentre(absl::Span<const double> series, double confidence) {
  const size_t n = series.size();
  SLIPWAY_CHECK(n > 0 && n <= kMaxSamples && confidence > 0 && confidence < 1,
                "no sample, or too many");
  std::vector<double> means;
  means.reserve(n * (n + 1) / 2);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i; j < n; ++j) means.push_back((series[i] + series[j]) / 2);
  }
  // From 1.
  const auto at = [&](size_t rank) {
    const auto place = means.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(means.begin(), place, means.end());
    return *place;
  };
  const size_t count = means.size();
  Estimate estimate{.value = (at((count + 1) / 2) + at(count / 2 + 1)) / 2,
                    .interval = std::nullopt};
  const double middle = static_cast<double>(count + 1) / 2;
  const double k = SignedRank(n, (1 - confidence) / 2);
  const double low = middle - (middle - k) * std::sqrt(Inefficiency(series));
  if (k < 1 || low < 1) return estimate;
  const auto rank = static_cast<size_t>(low);
  estimate.interval = {at(rank), at(count + 1 - rank)};
  return estimate;
}

}  // namespace slipway
