#include "core/metrics/histogram.h"

#include <algorithm>

namespace slipway {

DurationHistogram::DurationHistogram(absl::Span<const double> bounds)
    : bounds_(bounds), counts_(new std::atomic<int64_t>[bounds.size() + 1]()) {}

void DurationHistogram::Add(absl::Duration duration) {
  duration = std::max(duration, absl::ZeroDuration());
  const double seconds = absl::ToDoubleSeconds(duration);
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), seconds) - bounds_.begin();
  counts_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_ns_.fetch_add(absl::ToInt64Nanoseconds(duration), std::memory_order_relaxed);
}

HistogramCounts DurationHistogram::Read() const {
  HistogramCounts read = {.bounds = {bounds_.begin(), bounds_.end()}, .counts = {}, .sum = 0};
  for (size_t i = 0; i <= bounds_.size(); ++i) {
    read.counts.push_back(counts_[i].load(std::memory_order_relaxed));
  }
  read.sum = static_cast<double>(sum_ns_.load(std::memory_order_relaxed)) * 1e-9;
  return read;
}

}  // namespace slipway
