// RateSearch: which rate of queries to try next, to find the highest one that a bound allows.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_RATE_SEARCH_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_RATE_SEARCH_H_

#include <optional>

namespace slipway {

// Doubles while the bound is met, or halves until it is, then cuts in the middle (geometrically) until the highest rate
// that met it and the lowest that did not are within 2 %. At most 32 trials: 6 that double or halve, then some that cut. Pure.
class RateSearch {
 public:
  // Rates are whole thousandths of a query a second, which is what they are told in. REQUIRES: least <= first <= most.
  RateSearch(double first, double least, double most);

  // The rate to try; absent when nothing is left to find out.
  std::optional<double> Next() const;
  // What came of trying it. REQUIRES: Next() has a value.
  void Tell(bool is_met);

  // The highest rate that met the bound; absent if none did.
  std::optional<double> Best() const { return met_; }

 private:
  const double least_;
  const double most_;
  double next_;
  int trials_ = 0;
  std::optional<double> met_;
  std::optional<double> missed_;
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_RATE_SEARCH_H_
