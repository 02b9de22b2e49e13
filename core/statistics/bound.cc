#include "core/statistics/bound.h"

namespace slipway {

BoundVerdict JudgeBound(const Estimate& estimate, double bound) {
  if (!estimate.interval.has_value()) return BoundVerdict::kUndecided;
  if (estimate.interval->high <= bound) return BoundVerdict::kMet;
  return estimate.interval->low > bound ? BoundVerdict::kMissed : BoundVerdict::kUndecided;
}

}  // namespace slipway
