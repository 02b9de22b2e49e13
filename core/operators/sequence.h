// Sequences and optionals of ONNX. Here such a value is one tensor of bytes, u8[n], that holds its elements with their types
// (core/DESIGN.md, "A sequence is a tensor of bytes"), so that all that hands values on takes them, too. Of what type an element
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

// What has a form of its own while compiling (core/passes/known_sequences.h) is a pack at the edges of programs: these make one
// of its elements, and take one apart whose elements are of known types. Attributes: "kind", a PackKind; "types", for each
// element its element type, rank and extents.
inline constexpr char kPackElementsOperator[] = "slipway.PackElements";
inline constexpr char kUnpackElementsOperator[] = "slipway.UnpackElements";

// A position, one i32 or i64 in [-size, last], from 0 on: it counts from the end where it is negative. INVALID_ARGUMENT for
// others.
absl::StatusOr<int64_t> PositionIn(const Tensor& position, int64_t size, int64_t last);

// How long the parts are that SplitToSequence makes of `extent`. `split` is its input 1, null where omitted. INVALID_ARGUMENT
// where it does not fit.
absl::StatusOr<std::vector<int64_t>> PartsOf(const Tensor* split, int64_t extent);

absl::Status RegisterSequenceOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_SEQUENCE_H_
