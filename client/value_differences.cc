#include "client/value_differences.h"

#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace slipway {
namespace {

ComparedValue CompareValue(const NamedTensor& actual, const NamedTensor& expected,
                           const Tolerance& tolerance) {
  ComparedValue value{actual.name, actual.tensor.type(), expected.tensor.type(), tolerance,
                      std::nullopt};
  absl::StatusOr<TensorDifference> difference =
      MeasureDifference(actual.tensor, expected.tensor, value.tolerance);
  if (difference.ok()) value.difference = *std::move(difference);
  return value;
}

}  // namespace

ValueDifferences CompareValues(absl::Span<const NamedTensor> actual,
                               absl::Span<const NamedTensor> expected,
                               const std::optional<Tolerance>& tolerance) {
  return CompareValues(actual, expected, [&tolerance](const Tensor& tensor) {
    return tolerance.value_or(DefaultTolerance(tensor.dtype()));
  });
}

ValueDifferences CompareValues(absl::Span<const NamedTensor> actual,
                               absl::Span<const NamedTensor> expected,
                               absl::FunctionRef<Tolerance(const Tensor& expected)> tolerance_for) {
  // Those not matched yet.
  absl::flat_hash_map<std::string, std::deque<const NamedTensor*>> left;
  for (const NamedTensor& value : expected) left[value.name].push_back(&value);
  ValueDifferences differences;
  differences.only_expected = static_cast<int64_t>(expected.size());
  for (const NamedTensor& value : actual) {
    const auto found = left.find(value.name);
    if (found == left.end() || found->second.empty()) {
      ++differences.only_actual;
      continue;
    }
    --differences.only_expected;
    const NamedTensor& wanted = *found->second.front();
    ComparedValue compared = CompareValue(value, wanted, tolerance_for(wanted.tensor));
    found->second.pop_front();
    if (!compared.IsClose()) {
      ++differences.differing;
      if (!differences.first.has_value()) differences.first = differences.values.size();
    }
    differences.values.push_back(std::move(compared));
  }
  return differences;
}

}  // namespace slipway
