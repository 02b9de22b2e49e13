#include "device_agent/measure/rate_search.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace slipway {
namespace {

constexpr int kMaxTrials = 32;
// Doubling and halving end after so many: at a 64th of what the instances can do hardly a query waits, so that a bound that is
// missed there is missed by the call itself.
constexpr int kMaxSteps = 6;
constexpr double kNear = 1.02;

}  // namespace

RateSearch::RateSearch(double first, double least, double most)
    : least_(least), most_(most), next_(first) {
  SLIPWAY_CHECK(least > 0 && least <= first && first <= most, "no rate to begin with");
}

std::optional<double> RateSearch::Next() const {
  if (trials_ >= kMaxTrials) return std::nullopt;
  if (met_.has_value() && missed_.has_value()) {
    return *missed_ <= *met_ * kNear ? std::nullopt : std::make_optional(next_);
  }
  if (trials_ > kMaxSteps) return std::nullopt;
  // At an end of what may be tried.
  if (next_ == met_ || next_ == missed_) return std::nullopt;
  return next_;
}

void RateSearch::Tell(bool is_met) {
  ++trials_;
  std::optional<double>& end = is_met ? met_ : missed_;
  end = next_;
  if (met_.has_value() && missed_.has_value()) {
    next_ = std::sqrt(*met_ * *missed_);
  } else {
    next_ = is_met ? std::min(next_ * 2, most_) : std::max(next_ / 2, least_);
  }
}

}  // namespace slipway
