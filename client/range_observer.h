// RangeObserver: the range that 8 bits are to cover for a value, from what it held in example calls.
#ifndef SLIPWAY_CLIENT_RANGE_OBSERVER_H_
#define SLIPWAY_CLIENT_RANGE_OBSERVER_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace slipway {

// Not thread-safe.
class RangeObserver {
 public:
  // `examples`: how many times Add will be called, at least 1. Memory is bounded whatever that is.
  explicit RangeObserver(size_t examples);

  // The elements in one call. INVALID_ARGUMENT, and nothing is taken, where one is not finite.
  absl::Status Add(absl::Span<const float> elements);

  struct Range {
    float least = 0;
    float greatest = 0;
  };
  // What of the elements' range, 0 included, has the least mean squared error in 8 bits: all of it, or less where a few elements lie
  // far out, which are cut off then. Of elements kept evenly from all calls, the outermost of each among them.
  Range Best() const;

 private:
  size_t kept_a_call_;
  float least_ = 0;
  float greatest_ = 0;
  std::vector<float> kept_;
};

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_RANGE_OBSERVER_H_
