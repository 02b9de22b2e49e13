// Checks of spaces, buffers and values.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/artifact/check_tables.h"
#include "core/base/status_macros.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

using absl::InvalidArgumentError;
using absl::ResourceExhaustedError;
using absl::UnimplementedError;

constexpr IntegerRange kExtents{0, (int64_t{1} << 31) - 1};
// Products of extents stop growing here.
constexpr int64_t kMaxBytes = int64_t{1} << 62;

absl::Status CheckDeviceIndex(const v1::Manifest& manifest, uint32_t device) {
  if (device < static_cast<uint32_t>(manifest.devices_size())) return absl::OkStatus();
  return InvalidArgumentError(absl::StrCat("device ", device, " does not exist"));
}

absl::Status CheckSpace(const v1::Manifest& manifest, const v1::MemorySpace& space) {
  SLIPWAY_RETURN_IF_ERROR(CheckDeviceIndex(manifest, space.device()));
  for (int i = 0; i < space.shared_with_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR(CheckDeviceIndex(manifest, space.shared_with(i)));
    if (space.shared_with(i) == space.device()) {
      return InvalidArgumentError("is shared with the device that it belongs to");
    }
    if (i > 0 && space.shared_with(i) <= space.shared_with(i - 1)) {
      return InvalidArgumentError("the devices it is shared with are not ascending");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSpaces(Tables& tables) {
  const v1::Manifest& manifest = tables.manifest;
  SLIPWAY_RETURN_IF_ERROR(
      CheckCount(manifest.spaces_size(), tables.limits.spaces, "memory spaces"));
  for (int i = 0; i < manifest.spaces_size(); ++i) {
    const v1::MemorySpace& space = manifest.spaces(i);
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckSpace(manifest, space), absl::StrCat("space ", i));
    tables.spaces.push_back(
        {space.device(), {space.shared_with().begin(), space.shared_with().end()}, 0});
  }
  if (!tables.spaces.empty()) return absl::OkStatus();
  for (int i = 0; i < manifest.devices_size(); ++i) {
    tables.spaces.push_back({static_cast<uint32_t>(i), {}, 0});
  }
  return absl::OkStatus();
}

absl::Status CheckStatic(Tables& tables, const v1::Buffer& buffer) {
  const int64_t offset = buffer.arena_offset();
  const int64_t size = buffer.size().constant();
  const int64_t limit = tables.limits.arena_bytes;
  if (offset < 0 || offset % kBufferAlignment != 0 || size % kBufferAlignment != 0) {
    return InvalidArgumentError(absl::StrCat("arena offset ", offset, " and size ", size,
                                             " must be multiples of ", kBufferAlignment));
  }
  if (offset > limit || size > limit - offset) {
    return ResourceExhaustedError(
        absl::StrCat("ends at byte ", static_cast<uint64_t>(offset) + static_cast<uint64_t>(size),
                     " of the arena, beyond the limit of ", limit));
  }
  int64_t& arena = tables.spaces[buffer.space()].arena_bytes;
  arena = std::max(arena, offset + size);
  return absl::OkStatus();
}

absl::Status CheckConstantBuffer(const v1::Manifest& manifest, const v1::Buffer& buffer) {
  if (buffer.constant() >= static_cast<uint32_t>(manifest.constants_size())) {
    return InvalidArgumentError(absl::StrCat("constant ", buffer.constant(), " does not exist"));
  }
  const int64_t held = manifest.constants(static_cast<int>(buffer.constant())).size_bytes();
  if (buffer.size().constant() == held) return absl::OkStatus();
  return InvalidArgumentError(absl::StrCat("size ", buffer.size().constant(),
                                           " is not that of constant ", buffer.constant(), ", ",
                                           held));
}

absl::Status CheckBuffer(Tables& tables, const v1::Buffer& buffer, int64_t& external_bytes) {
  if (buffer.space() >= tables.spaces.size()) {
    return InvalidArgumentError(absl::StrCat("space ", buffer.space(), " does not exist"));
  }
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const IntegerRange size,
                                CheckSize(tables.expressions, buffer.size()), "size");
  if (size.max < 0) return InvalidArgumentError(absl::StrCat("size ", size.max, " is negative"));
  if (buffer.class_() != v1::Buffer::CLASS_STATIC && buffer.arena_offset() != 0) {
    return InvalidArgumentError("has an arena offset, but is not static");
  }
  if (buffer.class_() != v1::Buffer::CLASS_CONSTANT && buffer.constant() != 0) {
    return InvalidArgumentError("names a constant, but is none");
  }
  const bool is_fixed =
      buffer.class_() == v1::Buffer::CLASS_STATIC || buffer.class_() == v1::Buffer::CLASS_CONSTANT;
  if (is_fixed && buffer.size().has_expression()) {
    return InvalidArgumentError(
        "its size is an expression, but it is neither dynamic nor external");
  }
  const int64_t at_least = std::max<int64_t>(size.min, 0);
  switch (buffer.class_()) {
    case v1::Buffer::CLASS_STATIC:
      return CheckStatic(tables, buffer);
    case v1::Buffer::CLASS_EXTERNAL:
      SLIPWAY_RETURN_IF_ERROR(
          CheckCount(at_least, tables.limits.external_bytes, "bytes in an external buffer"));
      external_bytes += at_least;
      return CheckCount(external_bytes, tables.limits.external_bytes, "bytes in external buffers");
    case v1::Buffer::CLASS_CONSTANT:
      return CheckConstantBuffer(tables.manifest, buffer);
    case v1::Buffer::CLASS_DYNAMIC:
      return CheckCount(at_least, tables.limits.dynamic_bytes, "bytes in a dynamic buffer");
    case v1::Buffer::CLASS_UNSPECIFIED:
      return InvalidArgumentError("class is not set");
    default:
      return UnimplementedError(
          absl::StrCat("class ", static_cast<int>(buffer.class_()), " is unknown"));
  }
}

absl::Status CheckElementType(const v1::Value& value) {
  if (value.dtype() == v1::DATA_TYPE_UNSPECIFIED) {
    return InvalidArgumentError("element type is not set");
  }
  SLIPWAY_ASSIGN_OR_RETURN(const DataType dtype, DataTypeFromNumber(value.dtype()));
  if (dtype == DataType::kString || dtype == DataType::kComplex64 ||
      dtype == DataType::kComplex128) {
    return UnimplementedError(absl::StrCat("element type '", Name(dtype), "' is not supported"));
  }
  return absl::OkStatus();
}

// What the extent can be.
absl::StatusOr<IntegerRange> CheckExtent(const Tables& tables, const v1::Dimension& dimension) {
  switch (dimension.kind_case()) {
    case v1::Dimension::kValue: {
      if (dimension.value() >= 0 && dimension.value() <= kExtents.max) {
        return IntegerRange{dimension.value(), dimension.value()};
      }
      // Says it as for any shape.
      const Shape shape = {dimension.value()};
      return CheckShape(shape, 1).status();
    }
    case v1::Dimension::kExpression: {
      if (dimension.expression() >= tables.expressions.size()) {
        return InvalidArgumentError(
            absl::StrCat("expression ", dimension.expression(), " does not exist"));
      }
      const IntegerRange can_be = tables.expressions.interval(dimension.expression());
      if (!can_be.Meets(kExtents)) {
        return InvalidArgumentError(
            absl::StrCat("extent '", tables.expressions.text(dimension.expression()), "' is ",
                         can_be.min, " to ", can_be.max, "; extents are 0 to ", kExtents.max));
      }
      return IntegerRange{std::max(can_be.min, kExtents.min), std::min(can_be.max, kExtents.max)};
    }
    case v1::Dimension::KIND_NOT_SET:
      break;
  }
  return InvalidArgumentError("a dimension is not set");
}

int64_t BoundedProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMaxBytes : std::min(product, kMaxBytes);
}

// How many bytes it can have.
absl::StatusOr<IntegerRange> CheckBytes(const Tables& tables, const v1::Value& value) {
  if (value.shape_size() > kMaxRank) {
    return InvalidArgumentError(
        absl::StrCat("has ", value.shape_size(), " dimensions; at most ", kMaxRank));
  }
  const int64_t limit = tables.limits.value_bytes;
  const int64_t element_bytes = ByteSize(static_cast<DataType>(value.dtype()));
  IntegerRange bytes{element_bytes, element_bytes};
  int64_t stride = 1;
  for (int i = value.shape_size(); i-- > 0;) {
    SLIPWAY_ASSIGN_OR_RETURN(const IntegerRange extent, CheckExtent(tables, value.shape(i)));
    bytes.min = BoundedProduct(bytes.min, extent.min);
    bytes.max = BoundedProduct(bytes.max, extent.max);
    // Strides are 32-bit as well, and an extent of 0 hides a large product.
    stride = BoundedProduct(stride, std::max<int64_t>(extent.min, 1));
  }
  if (bytes.min > limit) {
    return UnimplementedError(absl::StrCat("has ", bytes.min, " bytes; tensors over ", limit,
                                           " bytes are not supported"));
  }
  if (stride > limit) {
    return UnimplementedError(
        absl::StrCat("has strides over ", limit, ", which are not supported"));
  }
  return bytes;
}

// A buffer of a size known now must hold all the value can be; another one may turn out to.
absl::Status CheckPlace(const Tables& tables, const v1::Value& value, const IntegerRange& bytes) {
  if (value.buffer() >= static_cast<uint32_t>(tables.manifest.buffers_size())) {
    return InvalidArgumentError(absl::StrCat("buffer ", value.buffer(), " does not exist"));
  }
  if (value.offset() < 0 || value.offset() % kBufferAlignment != 0) {
    return InvalidArgumentError(
        absl::StrCat("offset ", value.offset(), " is not a multiple of ", kBufferAlignment));
  }
  const v1::Buffer& buffer = tables.manifest.buffers(static_cast<int>(value.buffer()));
  const bool is_fixed =
      buffer.class_() == v1::Buffer::CLASS_STATIC || buffer.class_() == v1::Buffer::CLASS_CONSTANT;
  const int64_t size = buffer.size().has_expression()
                           ? tables.expressions.interval(buffer.size().expression()).max
                           : buffer.size().constant();
  const int64_t needed = is_fixed ? bytes.max : bytes.min;
  if (value.offset() > size || needed > size - value.offset()) {
    return InvalidArgumentError(absl::StrCat("bytes ", value.offset(), " + ", needed,
                                             " are outside of buffer ", value.buffer(), " of ",
                                             size, " bytes"));
  }
  return absl::OkStatus();
}

absl::StatusOr<IntegerRange> CheckValue(const Tables& tables, const v1::Value& value) {
  SLIPWAY_RETURN_IF_ERROR(CheckElementType(value));
  SLIPWAY_ASSIGN_OR_RETURN(const IntegerRange bytes, CheckBytes(tables, value));
  SLIPWAY_RETURN_IF_ERROR(CheckPlace(tables, value, bytes));
  return bytes;
}

}  // namespace

absl::StatusOr<IntegerRange> CheckSize(const Expressions& expressions, const v1::Size& size) {
  if (!size.has_expression()) return IntegerRange{size.constant(), size.constant()};
  if (size.constant() != 0) return InvalidArgumentError("is both a constant and an expression");
  if (size.expression() >= expressions.size()) {
    return InvalidArgumentError(absl::StrCat("expression ", size.expression(), " does not exist"));
  }
  return expressions.interval(size.expression());
}

absl::Status CheckMemory(Tables& tables) {
  const v1::Manifest& manifest = tables.manifest;
  const ReaderLimits& limits = tables.limits;
  SLIPWAY_RETURN_IF_ERROR(CheckSpaces(tables));
  SLIPWAY_RETURN_IF_ERROR(CheckCount(manifest.buffers_size(), limits.entries, "buffers"));
  int64_t external_bytes = 0;
  for (int i = 0; i < manifest.buffers_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR_WITH(CheckBuffer(tables, manifest.buffers(i), external_bytes),
                                 absl::StrCat("buffer ", i));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckCount(manifest.values_size(), limits.entries, "values"));
  tables.value_bytes.reserve(static_cast<size_t>(manifest.values_size()));
  for (int i = 0; i < manifest.values_size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const IntegerRange bytes, CheckValue(tables, manifest.values(i)),
                                  absl::StrCat("value ", i));
    tables.value_bytes.push_back(bytes);
  }
  return absl::OkStatus();
}

IntegerRange Tables::extent(const v1::Dimension& dimension) const {
  if (!dimension.has_expression()) return {dimension.value(), dimension.value()};
  const IntegerRange can_be = expressions.interval(dimension.expression());
  return {std::max(can_be.min, kExtents.min), std::min(can_be.max, kExtents.max)};
}

PortType Tables::type_of(uint32_t value_index) const {
  return PortTypeOf(value(value_index), expressions);
}

bool HaveSameType(const v1::Value& a, const v1::Value& b) {
  return a.dtype() == b.dtype() &&
         std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end(),
                    [](const v1::Dimension& x, const v1::Dimension& y) {
                      return x.kind_case() == y.kind_case() && x.value() == y.value() &&
                             x.expression() == y.expression();
                    });
}

PortType PortTypeOf(const v1::Value& value, const Expressions& expressions) {
  PortType type{static_cast<DataType>(value.dtype()), {}};
  for (const v1::Dimension& dimension : value.shape()) {
    if (dimension.has_expression()) {
      const IntegerRange can_be = expressions.interval(dimension.expression());
      type.extents.push_back({std::max(can_be.min, kExtents.min),
                              std::min(can_be.max, kExtents.max),
                              expressions.text(dimension.expression())});
    } else {
      type.extents.push_back(
          {dimension.value(), dimension.value(), absl::StrCat(dimension.value())});
    }
  }
  return type;
}

}  // namespace slipway
