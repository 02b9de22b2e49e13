// DurationHistogram: how often something took how long.
#ifndef SLIPWAY_CORE_METRICS_HISTOGRAM_H_
#define SLIPWAY_CORE_METRICS_HISTOGRAM_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"

namespace slipway {

// What a histogram has counted.
struct HistogramCounts {
  std::vector<double> bounds;  // Rising, seconds.
  std::vector<int64_t>
      counts;  // Of what took at most each bound and more than the one before; and, last, of what took more.
  double sum = 0;  // Seconds.
};

// Of answers, seconds.
inline constexpr std::array<double, 13> kAnswerBounds = {
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10};
// Of jobs, seconds: from what nobody notices to a day.
inline constexpr std::array<double, 12> kJobBounds = {0.005, 0.02, 0.1, 0.5,  2,     10,
                                                      30,    120,  600, 3600, 21600, 86400};

// Thread-safe; adding takes two relaxed additions and waits for nobody.
class DurationHistogram {
 public:
  // `bounds` rise, seconds; they must outlive this.
  explicit DurationHistogram(absl::Span<const double> bounds);

  // Below zero counts as zero: clocks may be set back.
  void Add(absl::Duration duration);
  // What was added until now; of what is added meanwhile, any part.
  HistogramCounts Read() const;

 private:
  const absl::Span<const double> bounds_;
  const std::unique_ptr<std::atomic<int64_t>[]> counts_;  // One more than bounds.
  std::atomic<int64_t> sum_ns_ = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_METRICS_HISTOGRAM_H_
