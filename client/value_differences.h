// CompareValues: where two programs of one model first differ.
#ifndef SLIPWAY_CLIENT_VALUE_DIFFERENCES_H_
#define SLIPWAY_CLIENT_VALUE_DIFFERENCES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "core/tensor/comparison.h"
#include "core/tensor/tensor.h"

namespace slipway {

// A value that both programs have.
struct ComparedValue {
  std::string name;
  TensorType actual;
  TensorType expected;
  // What was allowed.
  Tolerance tolerance;
  // Absent where the types differ.
  std::optional<TensorDifference> difference;

  bool IsClose() const { return difference.has_value() && difference->differing == 0; }
};

struct ValueDifferences {
  // In the order of the actual ones.
  std::vector<ComparedValue> values;
  // How many of them are not close, and the first of these.
  int64_t differing = 0;
  std::optional<size_t> first;
  // Values that one side alone has, and that are skipped.
  int64_t only_actual = 0;
  int64_t only_expected = 0;
};

// Compares what two programs gave for the same inputs, each in the order in which it computed it: outputs that were
// kept (CompileOptions::keep), for example, ordered by OutputsAsComputed (core/artifact/program_steps.h). Values are matched by name; of one that occurs several times, as in the turns
// of a loop, the first with the first and so on. `tolerance` is for every value; without one it is DefaultTolerance of the
// value's type. Unset tensors have another type than any other. Pure.
ValueDifferences CompareValues(absl::Span<const NamedTensor> actual,
                               absl::Span<const NamedTensor> expected,
                               const std::optional<Tolerance>& tolerance = std::nullopt);
// The same with a tolerance for each of the expected ones.
ValueDifferences CompareValues(absl::Span<const NamedTensor> actual,
                               absl::Span<const NamedTensor> expected,
                               absl::FunctionRef<Tolerance(const Tensor& expected)> tolerance_for);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_VALUE_DIFFERENCES_H_
