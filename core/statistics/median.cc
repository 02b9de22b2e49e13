#include "core/statistics/median.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.h"

namespace slipway {

double Median(std::vector<double> values) {
  SLIPWAY_CHECK(!values.empty(), "no values");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double MedianSpread(const std::vector<double>& values) {
  const double centre = Median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return 1.4826 * Median(std::move(distances));
}

}  // namespace slipway
