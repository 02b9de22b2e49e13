#include "core/tensor/comparison.h"

#include <string.h>

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

// The row-major index of element `i`.
std::string IndexText(absl::Span<const int64_t> shape, int64_t i) {
  Shape index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = i % shape[d];
    i /= shape[d];
  }
  return ToString(index);
}

// Compares `count` numbers of the stored type T, `parts` of which make one element. `widen` turns a
// T into a double, int64_t or uint64_t without loss.
template <typename T, typename Widen>
absl::Status Compare(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance,
                     int64_t parts, Widen widen) {
  const bool is_exact = IsExact(actual.dtype());
  const int64_t count = actual.num_elements() * parts;
  int64_t differing = 0;
  int64_t worst = -1;
  double worst_excess = 0;
  T a, e;
  for (int64_t i = 0; i < count; ++i) {
    memcpy(&a, actual.bytes().data() + i * sizeof(T), sizeof(T));
    memcpy(&e, expected.bytes().data() + i * sizeof(T), sizeof(T));
    double excess;
    if (is_exact) {
      if (a == e) continue;
      excess = std::abs(static_cast<double>(widen(a)) - static_cast<double>(widen(e)));
    } else {
      excess = Excess(static_cast<double>(widen(a)), static_cast<double>(widen(e)), tolerance);
      if (excess <= 0) continue;
    }
    ++differing;
    if (worst < 0 || excess > worst_excess) {
      worst = i;
      worst_excess = excess;
    }
  }
  if (differing == 0) return absl::OkStatus();
  memcpy(&a, actual.bytes().data() + worst * sizeof(T), sizeof(T));
  memcpy(&e, expected.bytes().data() + worst * sizeof(T), sizeof(T));
  std::string message =
      absl::StrCat(differing, " of ", count, parts == 1 ? " elements" : " real and imaginary parts",
                   " differ, most at ", IndexText(actual.shape(), worst / parts), ": ",
                   Show(widen(a)), ", expected ", Show(widen(e)));
  if (!is_exact) {
    absl::StrAppendFormat(&message, " (relative tolerance %g, absolute %g)", tolerance.relative,
                          tolerance.absolute);
  }
  return absl::FailedPreconditionError(message);
}

absl::Status CompareStrings(const Tensor& actual, const Tensor& expected) {
  const std::vector<absl::string_view> a = StringsIn(actual);
  const std::vector<absl::string_view> e = StringsIn(expected);
  int64_t differing = 0;
  size_t first = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == e[i]) continue;
    if (differing++ == 0) first = i;
  }
  if (differing == 0) return absl::OkStatus();
  const auto quoted = [](absl::string_view text) {
    return absl::StrCat("\"", absl::CHexEscape(text.substr(0, 60)), "\"");
  };
  return absl::FailedPreconditionError(
      absl::StrCat(differing, " of ", a.size(), " strings differ, first at ",
                   IndexText(actual.shape(), static_cast<int64_t>(first)), ": ", quoted(a[first]),
                   ", expected ", quoted(e[first])));
}

double FromFloat16(uint16_t v) { return Float16ToFloat(v); }
double FromBfloat16(uint16_t v) { return Bfloat16ToFloat(v); }
double FromReal(double v) { return v; }
int64_t FromSigned(int64_t v) { return v; }
uint64_t FromUnsigned(uint64_t v) { return v; }

}  // namespace

absl::Status CheckClose(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
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

}  // namespace slipway
