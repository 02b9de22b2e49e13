// What a sample says of a number: the number, and between which bounds it may be.
#ifndef SLIPWAY_CORE_STATISTICS_ESTIMATE_H_
#define SLIPWAY_CORE_STATISTICS_ESTIMATE_H_

#include <optional>

namespace slipway {

// In the unit of the sample. `low` <= `high`.
struct ConfidenceInterval {
  double low = 0;
  double high = 0;
};

struct Estimate {
  double value = 0;
  // Absent where the sample is too small to bound the number from both sides at the confidence asked for.
  std::optional<ConfidenceInterval> interval;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_STATISTICS_ESTIMATE_H_
