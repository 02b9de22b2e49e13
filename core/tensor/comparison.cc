#include "core/tensor/comparison.h"

#include <string.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/tensor/float16.h"
#include "core/tensor/small_float.h"
#include "core/tensor/strings.h"

namespace slipway {
namespace {

bool IsExact(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kFloat32:
    case DataType::kFloat64:
    case DataType::kComplex64:
    case DataType::kComplex128:
      return false;
    default:
      return !IsSmallFloat(dtype);
  }
}

// How far `actual` is outside the tolerance; 0 or less when it is within.
double Excess(double actual, double expected, const Tolerance& tolerance) {
  if (std::isnan(actual) && std::isnan(expected)) return 0;
  if (actual == expected) return 0;  // Infinities too.
  if (!std::isfinite(actual) || !std::isfinite(expected)) {
    return std::numeric_limits<double>::infinity();
  }
  return std::abs(actual - expected) -
         (tolerance.absolute + tolerance.relative * std::abs(expected));
}

std::string Show(double value) { return absl::StrFormat("%.9g", value); }
std::string Show(int64_t value) { return absl::StrCat(value); }
std::string Show(uint64_t value) { return absl::StrCat(value); }

Shape IndexOf(absl::Span<const int64_t> shape, int64_t i) {
  Shape index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = i % shape[d];
    i /= shape[d];
  }
  return index;
}

// Where a float stands among all of its type, by its bits: those of floats rise with them, and negative ones mirror positive ones.
double PlaceOf(uint64_t bits, int width) {
  const uint64_t sign = uint64_t{1} << (width - 1);
  const auto magnitude = static_cast<double>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

template <typename T>
double UlpsBetween(T a, T e) {
  uint64_t bits_a = 0;
  uint64_t bits_e = 0;
  memcpy(&bits_a, &a, sizeof(T));
  memcpy(&bits_e, &e, sizeof(T));
  constexpr int kWidth = sizeof(T) * 8;
  return std::abs(PlaceOf(bits_a, kWidth) - PlaceOf(bits_e, kWidth));
}

// Compares `count` numbers of the stored type T, `parts` of which make one element. `widen` turns a
// T into a double, int64_t or uint64_t without loss.
template <typename T, typename Widen>
TensorDifference Compare(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance,
                         int64_t parts, Widen widen) {
  const bool is_exact = IsExact(actual.dtype());
  const bool has_ulps = !is_exact && sizeof(T) > 1;
  double sum = 0;
  int64_t finite = 0;
  TensorDifference difference;
  difference.count = actual.num_elements() * parts;
  int64_t worst = -1;
  double worst_excess = 0;
  T a, e;
  for (int64_t i = 0; i < difference.count; ++i) {
    memcpy(&a, actual.bytes().data() + i * sizeof(T), sizeof(T));
    memcpy(&e, expected.bytes().data() + i * sizeof(T), sizeof(T));
    const auto wide_a = static_cast<double>(widen(a));
    const auto wide_e = static_cast<double>(widen(e));
    const double distance = std::abs(wide_a - wide_e);
    const bool is_finite = std::isfinite(wide_a) && std::isfinite(wide_e);
    if (is_finite) {
      ++finite;
      sum += distance;
    }
    if (is_finite && distance > 0) {
      if (has_ulps) difference.ulps = std::max(difference.ulps, UlpsBetween(a, e));
      difference.absolute = std::max(difference.absolute, distance);
      if (wide_e != 0) {
        difference.relative = std::max(difference.relative, distance / std::abs(wide_e));
      }
    }
    if (is_exact ? a == e : Excess(wide_a, wide_e, tolerance) <= 0) continue;
    const double excess = is_exact ? distance : Excess(wide_a, wide_e, tolerance);
    ++difference.differing;
    if (!is_finite) ++difference.not_finite;
    if (worst < 0 || excess > worst_excess) {
      worst = i;
      worst_excess = excess;
    }
  }
  if (finite > 0) difference.mean = sum / static_cast<double>(finite);
  if (worst < 0) return difference;
  memcpy(&a, actual.bytes().data() + worst * sizeof(T), sizeof(T));
  memcpy(&e, expected.bytes().data() + worst * sizeof(T), sizeof(T));
  difference.at = IndexOf(actual.shape(), worst / parts);
  difference.actual = Show(widen(a));
  difference.expected = Show(widen(e));
  return difference;
}

TensorDifference CompareStrings(const Tensor& actual, const Tensor& expected) {
  const std::vector<absl::string_view> a = StringsIn(actual);
  const std::vector<absl::string_view> e = StringsIn(expected);
  const auto quoted = [](absl::string_view text) {
    return absl::StrCat("\"", absl::CHexEscape(text.substr(0, 60)), "\"");
  };
  TensorDifference difference;
  difference.count = static_cast<int64_t>(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == e[i]) continue;
    if (difference.differing++ > 0) continue;
    difference.at = IndexOf(actual.shape(), static_cast<int64_t>(i));
    difference.actual = quoted(a[i]);
    difference.expected = quoted(e[i]);
  }
  return difference;
}

double FromFloat16(uint16_t v) { return Float16ToFloat(v); }
double FromBfloat16(uint16_t v) { return Bfloat16ToFloat(v); }
double FromReal(double v) { return v; }
int64_t FromSigned(int64_t v) { return v; }
uint64_t FromUnsigned(uint64_t v) { return v; }

}  // namespace

Tolerance DefaultTolerance(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat64:
    case DataType::kComplex128:
      return {1e-9, 1e-11};
    case DataType::kFloat16:
      return {1e-2, 1e-3};
    case DataType::kBfloat16:
      return {5e-2, 5e-3};
    // One step up or down.
    case DataType::kFloat8E4M3Fn:
    case DataType::kFloat8E4M3FnUz:
    case DataType::kFloat6E2M3:
      return {0.125, 0.01};
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E5M2FnUz:
    case DataType::kFloat6E3M2:
      return {0.25, 0.01};
    case DataType::kFloat4E2M1:
      return {0.5, 0.5};
    case DataType::kFloat8E8M0:
      return {1, 0};
    default:
      return {};
  }
}

absl::StatusOr<TensorDifference> MeasureDifference(const Tensor& actual, const Tensor& expected,
                                                   const Tolerance& tolerance) {
  if (actual.type() != expected.type()) {
    return absl::InvalidArgumentError(absl::StrCat("a tensor ", ToString(actual.type()),
                                                   " where one of type ", ToString(expected.type()),
                                                   " is expected"));
  }
  switch (actual.dtype()) {
    case DataType::kFloat16:
      return Compare<uint16_t>(actual, expected, tolerance, 1, FromFloat16);
    case DataType::kBfloat16:
      return Compare<uint16_t>(actual, expected, tolerance, 1, FromBfloat16);
    case DataType::kFloat32:
      return Compare<float>(actual, expected, tolerance, 1, FromReal);
    case DataType::kFloat64:
      return Compare<double>(actual, expected, tolerance, 1, FromReal);
    case DataType::kComplex64:
      return Compare<float>(actual, expected, tolerance, 2, FromReal);
    case DataType::kComplex128:
      return Compare<double>(actual, expected, tolerance, 2, FromReal);
    case DataType::kInt8:
    case DataType::kInt4:
    case DataType::kInt2:
      return Compare<int8_t>(actual, expected, tolerance, 1, FromSigned);
    case DataType::kInt16:
      return Compare<int16_t>(actual, expected, tolerance, 1, FromSigned);
    case DataType::kInt32:
      return Compare<int32_t>(actual, expected, tolerance, 1, FromSigned);
    case DataType::kInt64:
      return Compare<int64_t>(actual, expected, tolerance, 1, FromSigned);
    case DataType::kBool:
    case DataType::kUint8:
    case DataType::kUint4:
    case DataType::kUint2:
      return Compare<uint8_t>(actual, expected, tolerance, 1, FromUnsigned);
    case DataType::kUint16:
      return Compare<uint16_t>(actual, expected, tolerance, 1, FromUnsigned);
    case DataType::kUint32:
      return Compare<uint32_t>(actual, expected, tolerance, 1, FromUnsigned);
    case DataType::kUint64:
      return Compare<uint64_t>(actual, expected, tolerance, 1, FromUnsigned);
    case DataType::kFloat8E4M3Fn:
    case DataType::kFloat8E4M3FnUz:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E5M2FnUz:
    case DataType::kFloat8E8M0:
    case DataType::kFloat6E2M3:
    case DataType::kFloat6E3M2:
    case DataType::kFloat4E2M1:
      return Compare<uint8_t>(actual, expected, tolerance, 1, [&actual](uint8_t v) -> double {
        return SmallFloatToFloat(actual.dtype(), v);
      });
    case DataType::kString:
      return CompareStrings(actual, expected);
    case DataType::kInvalid:
      break;
  }
  return absl::InvalidArgumentError("an unset tensor cannot be compared");
}

absl::Status CheckClose(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  const absl::StatusOr<TensorDifference> measured = MeasureDifference(actual, expected, tolerance);
  if (!measured.ok()) return measured.status();
  const TensorDifference& difference = *measured;
  if (difference.differing == 0) return absl::OkStatus();
  const bool are_strings = actual.dtype() == DataType::kString;
  const bool are_parts = difference.count != actual.num_elements();
  std::string message = absl::StrCat(difference.differing, " of ", difference.count,
                                     are_strings ? " strings differ, first at "
                                     : are_parts ? " real and imaginary parts differ, most at "
                                                 : " elements differ, most at ",
                                     ToString(difference.at), ": ", difference.actual,
                                     ", expected ", difference.expected);
  if (!IsExact(actual.dtype())) {
    absl::StrAppendFormat(&message, " (relative tolerance %g, absolute %g)", tolerance.relative,
                          tolerance.absolute);
  }
  return absl::FailedPreconditionError(message);
}

}  // namespace slipway
