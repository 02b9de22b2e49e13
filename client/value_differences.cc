#include "client/value_differences.h"

#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace slipway {
namespace {

ComparedValue CompareValue(const NamedTensor& actual, const NamedTensor& expected,
                           const std::optional<Tolerance>& tolerance) {
  ComparedValue value{actual.name, actual.tensor.type(), expected.tensor.type(),
                      tolerance.value_or(DefaultTolerance(expected.tensor.dtype())), std::nullopt};
  absl::StatusOr<TensorDifference> difference =
      MeasureDifference(actual.tensor, expected.tensor, value.tolerance);
  if (difference.ok()) value.difference = *std::move(difference);
  return value;
}

}  // namespace

ValueDifferences CompareValues(absl::Span<const NamedTensor> actual,
                               absl::Span<const NamedTensor> expected,
                               const std::optional<Tolerance>& tolerance) {
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
    ComparedValue compared = CompareValue(value, *found->second.front(), tolerance);
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
