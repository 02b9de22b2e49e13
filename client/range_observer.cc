#include "client/range_observer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"

namespace slipway {
namespace {

constexpr size_t kKept = 1 << 15;  // Of a value, in all calls together.
constexpr double kSteps = 255;     // From the least number of 8 bits to the greatest.
constexpr int kLeastPercent = 20;  // Of the range, that is still tried,
constexpr int kPercentStep = 5;    // in steps.

// The sum of squares of what rounding to steps of the range and cutting off change.
double Error(absl::Span<const float> values, double least, double greatest) {
  const double scale = (greatest - least) / kSteps;
  const double zero = std::round(-least / scale);
  double error = 0;
  for (const float value : values) {
    const double code = std::clamp(std::nearbyint(value / scale) + zero, 0.0, kSteps);
    const double difference = (code - zero) * scale - value;
    error += difference * difference;
  }
  return error;
}

}  // namespace

RangeObserver::RangeObserver(size_t examples)
    : kept_a_call_(std::max<size_t>(1, kKept / std::max<size_t>(1, examples))) {}

absl::Status RangeObserver::Add(absl::Span<const float> elements) {
  float least = 0;
  float greatest = 0;
  for (const float element : elements) {
    if (!std::isfinite(element)) {
      return absl::InvalidArgumentError(absl::StrCat("there is ", element, " among its elements"));
    }
    least = std::min(least, element);
    greatest = std::max(greatest, element);
  }
  // Odd, so that it does not stay in one column of an image.
  const size_t stride = (elements.size() / kept_a_call_) | 1;
  for (size_t i = 0; i < elements.size(); i += stride) kept_.push_back(elements[i]);
  kept_.push_back(least);
  kept_.push_back(greatest);
  least_ = std::min(least_, least);
  greatest_ = std::max(greatest_, greatest);
  return absl::OkStatus();
}

RangeObserver::Range RangeObserver::Best() const {
  // Narrower ones have no steps that f32 could tell apart.
  if (double{greatest_} - least_ < std::numeric_limits<float>::min()) return {least_, greatest_};
  double best = std::numeric_limits<double>::infinity();
  Range range;
  for (int percent = 100; percent >= kLeastPercent; percent -= kPercentStep) {
    const double least = least_ * (percent / 100.0);
    const double greatest = greatest_ * (percent / 100.0);
    const double error = Error(kept_, least, greatest);
    if (error >= best) continue;
    best = error;
    range = {static_cast<float>(least), static_cast<float>(greatest)};
  }
  return range;
}

}  // namespace slipway
