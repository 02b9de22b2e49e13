// ValueType: what is known of a value's element type, extents and quantization before anything runs.
#ifndef SLIPWAY_CORE_GRAPH_VALUE_TYPE_H_
#define SLIPWAY_CORE_GRAPH_VALUE_TYPE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/graph/dimension.h"
#include "core/symbolic/evaluation.h"
#include "core/tensor/tensor.h"

namespace slipway {

// What the integers of a tensor stand for: real = scale * (stored - zero point), one scale and zero
// point for all or one for each index along an axis.
struct Quantization {
  std::vector<float> scales;         // Finite and greater than 0.
  std::vector<int64_t> zero_points;  // As many; each a value of the element type.
  std::optional<int> axis;           // Absent: one of each for the whole tensor.

  friend bool operator==(const Quantization& a, const Quantization& b) {
    return a.scales == b.scales && a.zero_points == b.zero_points && a.axis == b.axis;
  }
  friend bool operator!=(const Quantization& a, const Quantization& b) { return !(a == b); }
};

// A value type. Where every extent is known it holds a TensorType and costs no more.
class ValueType {
 public:
  ValueType() = default;                                    // Of dtype kInvalid.
  ValueType(TensorType type) : tensor_(std::move(type)) {}  // NOLINT: tensors have types too.
  ValueType(DataType dtype, absl::Span<const Dimension> dimensions);
  ValueType(DataType dtype, std::initializer_list<Dimension> dimensions)
      : ValueType(dtype, absl::MakeConstSpan(dimensions.begin(), dimensions.size())) {}

  DataType dtype() const { return tensor_.dtype; }
  int rank() const { return static_cast<int>(is_static() ? tensor_.shape.size() : open_.size()); }
  // REQUIRES: 0 <= d < rank().
  Dimension dimension(int d) const { return is_static() ? Dimension(tensor_.shape[d]) : open_[d]; }
  Dimensions dimensions() const { return is_static() ? ToDimensions(tensor_.shape) : open_; }
  const std::optional<Quantization>& quantization() const { return quantization_; }
  void set_quantization(std::optional<Quantization> quantization) {
    quantization_ = std::move(quantization);
  }

  // Whether every extent is known.
  bool is_static() const { return open_.empty(); }
  // REQUIRES of all four: is_static().
  const TensorType& tensor() const;
  const Shape& shape() const { return tensor().shape; }
  int64_t num_elements() const { return tensor().num_elements(); }
  int64_t byte_size() const { return tensor().byte_size(); }

  // As written (see Dimension).
  friend bool operator==(const ValueType& a, const ValueType& b) {
    return a.tensor_ == b.tensor_ && a.open_ == b.open_ && a.quantization_ == b.quantization_;
  }
  friend bool operator!=(const ValueType& a, const ValueType& b) { return !(a == b); }

 private:
  TensorType tensor_;  // Without shape while `open_` holds the extents.
  Dimensions open_;    // Empty where all are known.
  std::optional<Quantization> quantization_;
};

// "f32[batch, 3, ?]", without the quantization.
std::string ToString(const ValueType& type);

// Whether both are the same element type with the same extents, whatever the symbols are; what is not
// known is the same as nothing. Quantization does not count.
bool SameTensors(const ValueType& a, const ValueType& b);

// Whether no value has both types: another element type or rank, or extents that differ whatever the
// symbols are. Quantization does not count: type rules say nothing of it.
bool Contradict(const ValueType& a, const ValueType& b);

// The type of what has one or the other, without quantization: extents that may differ are not known. Absent for another
// element type or rank.
std::optional<ValueType> Join(const ValueType& a, const ValueType& b);

// Errors of CheckShape for what is known; INVALID_ARGUMENT for a quantization that does not fit its
// type (not of 8, 16 or 32 bit integers, axis out of range, numbers of scales, zero points and indices
// that differ, a scale that is not finite and positive, a zero point out of range).
absl::Status CheckType(const ValueType& type);

// The same, and that every symbol is among `symbols`. INVALID_ARGUMENT names the dimension.
absl::Status CheckType(const ValueType& type, absl::Span<const Symbol> symbols);

}  // namespace slipway

#endif  // SLIPWAY_CORE_GRAPH_VALUE_TYPE_H_
