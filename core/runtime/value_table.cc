#include "core/runtime/value_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/artifact/limits.h"
#include "core/kernel_abi/element_type.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

// Kernels index elements with 32 bits.
constexpr int64_t kMaxValueBytes = ReaderLimits().value_bytes;

}  // namespace

ValueTable::ValueTable(const v1::Manifest& manifest) : manifest_(manifest) {
  const auto values = static_cast<size_t>(manifest.values_size());
  const auto buffers = static_cast<size_t>(manifest.buffers_size());
  rows_.reserve(values);
  descriptors_.resize(values);
  buffer_memory_.resize(buffers);
  first_value_.resize(buffers + 1);
  for (const v1::Value& value : manifest.values()) {
    rows_.push_back({static_cast<DataType>(value.dtype()), value.buffer(),
                     static_cast<uint32_t>(extents_.size()),
                     static_cast<uint32_t>(value.shape_size()), value.offset()});
    for (const v1::Dimension& dimension : value.shape()) {
      extents_.push_back(dimension.has_value() ? dimension.value() : 0);
    }
    ++first_value_[value.buffer() + 1];
  }
  for (size_t i = 0; i < buffers; ++i) first_value_[i + 1] += first_value_[i];
  values_of_buffer_.resize(values);
  std::vector<uint32_t> next(first_value_.begin(), first_value_.end());
  // One more each, so that a scalar's pointer is valid too.
  dimensions_.resize(extents_.size() + values);
  for (uint32_t i = 0; i < values; ++i) {
    values_of_buffer_[next[buffer(i)]++] = i;
    descriptors_[i].type = ElementType(dtype(i));
    descriptors_[i].dimensions = static_cast<int32_t>(rows_[i].rank);
    descriptors_[i].dim = &dimensions_[rows_[i].first_extent + i];
    Describe(i);
  }
}

void ValueTable::Describe(uint32_t value) {
  int64_t stride = 1;
  slipway_dimension* dimension = descriptors_[value].dim;
  const absl::Span<const int64_t> shape = extents(value);
  for (size_t d = shape.size(); d-- > 0; ++dimension) {
    dimension->extent = static_cast<int32_t>(shape[d]);
    dimension->stride = static_cast<int32_t>(stride);
    stride *= shape[d] == 0 ? 1 : shape[d];
  }
  rows_[value].bytes = NumElements(shape) * ByteSize(dtype(value));
}

absl::Status ValueTable::SetExtents(uint32_t value, absl::Span<const int64_t> expressions) {
  int64_t* const out = extents_.data() + rows_[value].first_extent;
  // With extents of 0 counted as 1: strides are 32-bit as well, and a 0 would hide a large product.
  int64_t bytes = ByteSize(dtype(value));
  for (int d = 0; d < proto(value).shape_size(); ++d) {
    const v1::Dimension& dimension = proto(value).shape(d);
    const int64_t extent =
        dimension.has_value() ? dimension.value() : expressions[dimension.expression()];
    if (extent < 0 || extent > kMaxValueBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", d, " of value ", value, " comes to ", extent));
    }
    bytes *= std::max<int64_t>(extent, 1);
    if (bytes > kMaxValueBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("value ", value, " comes to more than ", kMaxValueBytes, " bytes"));
    }
    out[d] = extent;
  }
  Describe(value);
  return absl::OkStatus();
}

absl::Status ValueTable::CheckFits(uint32_t value, int64_t buffer_bytes) const {
  if (bytes(value) <= buffer_bytes - offset(value)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "value ", value, ", ", ToString(extents(value)), ", needs ", bytes(value), " bytes at ",
      offset(value), " of buffer ", buffer(value), ", which has ", buffer_bytes));
}

}  // namespace slipway
