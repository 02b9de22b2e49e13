#include "client/output_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/tensor/float16.h"

namespace slipway {
namespace {

template <typename T, typename Widen>
double LargestFinite(const Tensor& tensor, Widen widen) {
  double largest = 0;
  T element;
  const absl::string_view bytes = tensor.bytes();
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    memcpy(&element, bytes.data() + at, sizeof(T));
    const double magnitude = std::abs(static_cast<double>(widen(element)));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

// Of an element type whose elements are compared as floats; 0 for others.
double LargestFinite(const Tensor& tensor) {
  const auto same = [](auto v) { return v; };
  switch (tensor.dtype()) {
    case DataType::kFloat32:
    case DataType::kComplex64:
      return LargestFinite<float>(tensor, same);
    case DataType::kFloat64:
    case DataType::kComplex128:
      return LargestFinite<double>(tensor, same);
    case DataType::kFloat16:
      return LargestFinite<uint16_t>(tensor, [](uint16_t v) { return Float16ToFloat(v); });
    case DataType::kBfloat16:
      return LargestFinite<uint16_t>(tensor, [](uint16_t v) { return Bfloat16ToFloat(v); });
    default:
      return 0;
  }
}

// What rounding to the type alone may do, with room for the rounding of what was rounded.
double LeastShare(DataType dtype) {
  if (dtype == DataType::kFloat16) return 0x1p-9;
  return dtype == DataType::kBfloat16 ? 0x1p-6 : 0;
}

}  // namespace

double DefaultCheckTolerance(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      break;
    case Precision::kTensorFloat32:
    case Precision::kFloat16:
      return 1e-2;
    case Precision::kBfloat16:
      return 5e-2;
    case Precision::kInt8:
      return 1e-1;
  }
  return 1e-4;
}

Tolerance ToleranceFor(const Tensor& expected, double share) {
  const Tolerance of_type = DefaultTolerance(expected.dtype());
  switch (expected.dtype()) {
    case DataType::kFloat32:
    case DataType::kComplex64:
    case DataType::kFloat64:
    case DataType::kComplex128:
    case DataType::kFloat16:
    case DataType::kBfloat16:
      break;
    default:
      return of_type;
  }
  const double largest = LargestFinite(expected);
  return {.relative = 0,
          .absolute = std::max(share, LeastShare(expected.dtype())) * (largest > 0 ? largest : 1)};
}

bool OutputCheck::IsPassed() const {
  return !differences.values.empty() && differences.differing == 0 &&
         differences.only_actual == 0 && differences.only_expected == 0;
}

OutputCheck CheckOutputs(absl::Span<const NamedTensor> actual,
                         absl::Span<const NamedTensor> expected, double tolerance) {
  return {.tolerance = tolerance,
          .differences = CompareValues(actual, expected, [tolerance](const Tensor& tensor) {
            return ToleranceFor(tensor, tolerance);
          })};
}

std::string DescribeFailure(const OutputCheck& check) {
  SLIPWAY_CHECK(!check.IsPassed(), "nothing is wrong");
  const ValueDifferences& differences = check.differences;
  if (!differences.first.has_value()) {
    return absl::StrCat("the program has ", differences.only_actual,
                        " outputs that the model has not, and lacks ", differences.only_expected,
                        " of the model's");
  }
  const ComparedValue& wrong = differences.values[*differences.first];
  const std::string name = absl::Utf8SafeCEscape(wrong.name);
  if (!wrong.difference.has_value()) {
    return absl::StrCat("output \"", name, "\" is ", ToString(wrong.actual), ", and by the model ",
                        ToString(wrong.expected));
  }
  const TensorDifference& difference = *wrong.difference;
  return absl::StrCat("output \"", name, "\" is wrong in ", difference.differing, " of ",
                      difference.count, " elements, most at ", ToString(difference.at), ": ",
                      difference.actual, ", not ", difference.expected);
}

}  // namespace slipway
