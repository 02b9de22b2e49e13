// Sequences and optionals of ONNX. Here such a value is one tensor of bytes, u8[n], that holds its elements with their types
// (DESIGN.md, "A sequence is a tensor of bytes"), so that all that hands values on takes them, too. Of what type an element
// is only running finds out.
#ifndef SLIPWAY_CORE_OPERATORS_SEQUENCE_H_
#define SLIPWAY_CORE_OPERATORS_SEQUENCE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/graph/operator_registry.h"
#include "core/tensor/tensor.h"

namespace slipway {

enum class PackKind : int64_t { kSequence = 1, kOptional = 2 };

struct Pack {
  PackKind kind = PackKind::kSequence;
  std::vector<Tensor> elements;  // Of an optional none or one. May be packs themselves.
};

// u8[?], the type of every pack.
ValueType PackType();

// RESOURCE_EXHAUSTED when the memory cannot be had.
absl::StatusOr<Tensor> ToTensor(const Pack& pack);
// Whether the tensor begins as packs do.
bool IsPack(const Tensor& tensor);
// INVALID_ARGUMENT where the tensor is no pack, or is cut off.
absl::StatusOr<Pack> ToPack(const Tensor& tensor);

absl::Status RegisterSequenceOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_SEQUENCE_H_
