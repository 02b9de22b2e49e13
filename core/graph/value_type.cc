#include "core/graph/value_type.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

template <typename T>
Interval RangeOf() {
  return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

// The values of integers that can be quantized.
std::optional<Interval> QuantizedRange(DataType dtype) {
  switch (dtype) {
    case DataType::kInt2:
      return Interval{-2, 1};
    case DataType::kUint2:
      return Interval{0, 3};
    case DataType::kInt4:
      return Interval{-8, 7};
    case DataType::kUint4:
      return Interval{0, 15};
    case DataType::kInt8:
      return RangeOf<int8_t>();
    case DataType::kUint8:
      return RangeOf<uint8_t>();
    case DataType::kInt16:
      return RangeOf<int16_t>();
    case DataType::kUint16:
      return RangeOf<uint16_t>();
    case DataType::kInt32:
      return RangeOf<int32_t>();
    default:
      return std::nullopt;
  }
}

absl::Status CheckQuantization(const ValueType& type, const Quantization& quantization) {
  const auto invalid = [](const auto&... message) {
    return absl::InvalidArgumentError(absl::StrCat("quantization: ", message...));
  };
  const std::optional<Interval> range = QuantizedRange(type.dtype());
  if (!range.has_value()) {
    return invalid(Name(type.dtype()), " is not an integer of 2 to 32 bits");
  }
  const size_t scales = quantization.scales.size();
  if (quantization.zero_points.size() != scales) {
    return invalid(scales, " scales and ", quantization.zero_points.size(), " zero points");
  }
  if (!quantization.axis.has_value()) {
    if (scales != 1) return invalid(scales, " scales without an axis, one is needed");
  } else {
    const int axis = *quantization.axis;
    if (axis < 0 || axis >= type.rank()) {
      return invalid("axis ", axis, " is outside [0, ", type.rank(), ")");
    }
    const Dimension extent = type.dimension(axis);
    if (extent.is_known() && extent.extent() != static_cast<int64_t>(scales)) {
      return invalid(scales, " scales along axis ", axis, " of extent ", extent.extent());
    }
  }
  for (const float scale : quantization.scales) {
    if (!std::isfinite(scale) || scale <= 0) {
      return invalid("scale ", scale, " is not a finite number greater than 0");
    }
  }
  for (const int64_t zero : quantization.zero_points) {
    if (zero < range->min || zero > range->max) {
      return invalid("zero point ", zero, " is no value of ", Name(type.dtype()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

ValueType::ValueType(DataType dtype, absl::Span<const Dimension> dimensions) {
  tensor_.dtype = dtype;
  if (std::optional<Shape> shape = KnownShape(dimensions)) {
    tensor_.shape = *std::move(shape);
  } else {
    open_.assign(dimensions.begin(), dimensions.end());
  }
}

const TensorType& ValueType::tensor() const {
  SLIPWAY_CHECK(is_static(), ToString(*this));
  return tensor_;
}

std::string ToString(const ValueType& type) {
  return absl::StrCat(Name(type.dtype()), ToString(type.dimensions()));
}

bool SameTensors(const ValueType& a, const ValueType& b) {
  return a.dtype() == b.dtype() && SameExtents(a.dimensions(), b.dimensions());
}

bool Contradict(const ValueType& a, const ValueType& b) {
  return a.dtype() != b.dtype() || Contradict(a.dimensions(), b.dimensions());
}

std::optional<ValueType> Join(const ValueType& a, const ValueType& b) {
  if (a.dtype() != b.dtype() || a.rank() != b.rank()) return std::nullopt;
  Dimensions joined;
  for (int d = 0; d < a.rank(); ++d) {
    const Dimension extent = a.dimension(d);
    joined.push_back(SameExtent(extent, b.dimension(d)) ? extent : Dimension());
  }
  return ValueType(a.dtype(), joined);
}

absl::Status CheckType(const ValueType& type) {
  Shape known;
  for (const Dimension& dimension : type.dimensions()) {
    known.push_back(dimension.is_known() ? dimension.extent() : 1);
  }
  const absl::Status checked = CheckShape(known, ByteSize(type.dtype())).status();
  if (!checked.ok()) {
    return type.is_static() ? checked
                            : Annotate(checked, absl::StrCat("known extents of ", ToString(type)));
  }
  if (!type.quantization().has_value()) return absl::OkStatus();
  return CheckQuantization(type, *type.quantization());
}

absl::Status CheckType(const ValueType& type, absl::Span<const Symbol> symbols) {
  SLIPWAY_RETURN_IF_ERROR(CheckType(type));
  if (type.is_static()) return absl::OkStatus();
  for (int d = 0; d < type.rank(); ++d) {
    const Dimension dimension = type.dimension(d);
    if (dimension.is_known() || dimension.is_unknown()) continue;
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckSymbolsKnown(dimension.expression(), symbols),
                                 absl::StrCat("dimension ", d, " of ", ToString(type)));
  }
  return absl::OkStatus();
}

}  // namespace slipway
