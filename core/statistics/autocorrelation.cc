#include "core/statistics/autocorrelation.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace slipway {
namespace {

constexpr size_t kMaxLagged = 4096;

std::vector<double> Centred(absl::Span<const double> series) {
  const double mean =
      std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
  std::vector<double> centred(series.begin(), series.end());
  for (double& value : centred) value -= mean;
  return centred;
}

// The sum of products, `lag` apart; divided by n it is the autocovariance, biased so that large lags do not blow up.
double Products(absl::Span<const double> centred, size_t lag) {
  double sum = 0;
  for (size_t i = lag; i < centred.size(); ++i) sum += centred[i] * centred[i - lag];
  return sum;
}

double InefficiencyOfFew(absl::Span<const double> centred) {
  const double variance = Products(centred, 0);
  if (!(variance > 0)) return 1;
  double sum = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t lag = 0; lag + 1 < centred.size(); lag += 2) {
    // Of a reversible chain these pairs are positive and fall; what breaks that is noise.
    const double pair = Products(centred, lag) + Products(centred, lag + 1);
    if (pair <= 0) break;
    least = std::min(least, pair);
    sum += least;
  }
  return std::max(1.0, (2 * sum - variance) / variance);
}

}  // namespace

double Lag1Autocorrelation(absl::Span<const double> series) {
  if (series.size() < 3) return 0;
  const std::vector<double> centred = Centred(series);
  const double variance = Products(centred, 0);
  return variance > 0 ? Products(centred, 1) / variance : 0;
}

double Inefficiency(absl::Span<const double> series) {
  const size_t n = series.size();
  if (n < 3) return 1;
  const std::vector<double> centred = Centred(series);
  const double most = static_cast<double>(n);
  if (n <= kMaxLagged) return std::min(most, InefficiencyOfFew(centred));
  const size_t size = (n + kMaxLagged - 1) / kMaxLagged;
  std::vector<double> means;
  for (size_t begin = 0; begin + size <= n; begin += size) {
    const auto first = centred.begin() + static_cast<std::ptrdiff_t>(begin);
    means.push_back(std::accumulate(first, first + static_cast<std::ptrdiff_t>(size), 0.0) /
                    static_cast<double>(size));
  }
  const std::vector<double> batches = Centred(means);
  const double variance = Products(centred, 0) / static_cast<double>(n);
  if (!(variance > 0)) return 1;
  const double batch_variance = Products(batches, 0) / static_cast<double>(batches.size());
  const double ratio = static_cast<double>(size) * batch_variance / variance;
  return std::clamp(ratio * InefficiencyOfFew(batches), 1.0, most);
}

}  // namespace slipway
