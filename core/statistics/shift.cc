#include "core/statistics/shift.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/check.h"
#include "core/statistics/autocorrelation.h"
#include "core/statistics/median.h"

namespace slipway {
namespace {

constexpr size_t kMaxSamples = 100;

// The largest k such that, of `from` and `to` samples of one distribution, fewer than k of the pairs have the member of `to`
// below, with probability `tail` at most; 0 where there is none.
size_t RankSum(size_t from, size_t to, double tail) {
  // shares[m][u] of all orders of m members of `from` and n of `to`, n from 0 on, have u such pairs. The last in order is
  // one of `from`, above all n, or one of `to`.
  std::vector<std::vector<double>> shares(from + 1, {1.0});
  for (size_t n = 1; n <= to; ++n) {
    for (size_t m = 1; m <= from; ++m) {
      const std::vector<double>& without_to = shares[m];        // Of n - 1.
      const std::vector<double>& without_from = shares[m - 1];  // Of n.
      const double share_from = static_cast<double>(m) / static_cast<double>(m + n);
      std::vector<double> next(m * n + 1);
      for (size_t u = 0; u < without_to.size(); ++u) next[u] += without_to[u] * (1 - share_from);
      for (size_t u = 0; u < without_from.size(); ++u) {
        next[u + n] += without_from[u] * share_from;
      }
      shares[m] = std::move(next);
    }
  }
  double below = 0;
  size_t k = 0;
  while (k < shares[from].size() && below + shares[from][k] <= tail) below += shares[from][k++];
  return k;
}

void AppendRest(absl::Span<const double> sample, std::vector<double>& rest) {
  const double centre = Median({sample.begin(), sample.end()});
  for (const double value : sample) rest.push_back(value - centre);
}

size_t Effective(size_t count, double inefficiency) {
  return std::max<size_t>(1, static_cast<size_t>(static_cast<double>(count) / inefficiency));
}

}  // namespace

Estimate EstimateShift(absl::Span<const double> from, absl::Span<const double> to,
                       double confidence) {
  SLIPWAY_CHECK(!from.empty() && from.size() <= kMaxSamples && !to.empty() &&
                    to.size() <= kMaxSamples && confidence > 0 && confidence < 1,
                "no sample, or too many");
  std::vector<double> differences;
  differences.reserve(from.size() * to.size());
  for (const double before : from) {
    for (const double after : to) differences.push_back(after - before);
  }
  std::sort(differences.begin(), differences.end());
  Estimate estimate{.value = Median(differences), .interval = std::nullopt};

  std::vector<double> rest;
  AppendRest(from, rest);
  AppendRest(to, rest);
  const double inefficiency = Inefficiency(rest);
  const size_t m = Effective(from.size(), inefficiency);
  const size_t n = Effective(to.size(), inefficiency);
  // Where a sample counts as a part of one, the share of the differences that lies outside stays.
  const size_t rank = RankSum(m, n, (1 - confidence) / 2) * differences.size() / (m * n);
  if (rank == 0) return estimate;
  estimate.interval = {differences[rank - 1], differences[differences.size() - rank]};
  return estimate;
}

int64_t SamplesForShift(int64_t from, double confidence) {
  SLIPWAY_CHECK(from > 0 && confidence > 0 && confidence < 1, "no sample");
  // Of all orders of both samples, the share that has all of `to` below.
  double share = 1;
  int64_t to = 0;
  while (share > (1 - confidence) / 2) {
    ++to;
    share *= static_cast<double>(to) / static_cast<double>(from + to);
  }
  return to;
}

}  // namespace slipway
