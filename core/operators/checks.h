// What many type rules check of a node's inputs. Errors name node and operator.
#ifndef SLIPWAY_CORE_OPERATORS_CHECKS_H_
#define SLIPWAY_CORE_OPERATORS_CHECKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/graph/operator_registry.h"

namespace slipway {

enum class TypeSet {
  kFloat,       // f32, f64: what kernels that are not callable compute in.
  kNumeric,     // kFloat and the integers
  kAnyFloat,    // kFloat, f16, bf16
  kAnyNumeric,  // kAnyFloat and the integers
  kNumberOrBool,
  kInteger,
  kSized,  // Everything of fixed size; and strings, where the operator moves elements (OperatorSchema::moves_elements).
};

bool Contains(TypeSet set, DataType dtype);

// UNIMPLEMENTED for an element type outside the set.
absl::Status CheckDtype(const NodeView& view, int input, TypeSet set);
absl::Status CheckDtype(const NodeView& view, int input, absl::Span<const DataType> allowed);

// INVALID_ARGUMENT when inputs present differ in element type from the first.
absl::Status CheckSameDtypes(const NodeView& view);

// INVALID_ARGUMENT unless an input of indices is i32 or i64.
absl::Status CheckIndices(const NodeView& view, int input);

// INVALID_ARGUMENT when the rank is outside [min, max].
absl::Status CheckRank(const NodeView& view, int input, int min, int max = kMaxRank);

// `axis` in [-rank, rank) to [0, rank).
absl::StatusOr<int64_t> NormalizeAxis(const NodeView& view, int64_t axis, int64_t rank);

// The same for several, sorted; INVALID_ARGUMENT for one that is there twice.
absl::StatusOr<std::vector<int64_t>> NormalizeAxes(const NodeView& view,
                                                   const std::vector<int64_t>& axes, int64_t rank);

// The extents of an input. `count` of them from `first` on, or all that follow.
Dimensions DimensionsOf(const NodeView& view, int input, size_t first = 0, size_t count = SIZE_MAX);

// The extent, or 0 where that is negative.
Dimension OrZero(const NodeView& view, const Dimension& extent);

// INVALID_ARGUMENT for a broadcast that is impossible; that others are possible becomes a constraint.
absl::StatusOr<Dimensions> BroadcastInputs(const NodeView& view, absl::Span<const Dimension> a,
                                           absl::Span<const Dimension> b);

// Whether `part` divides `whole` without a remainder, for some values of the symbols; that it does so becomes a constraint.
// False where `part` is below 1.
bool Divides(const NodeView& view, const Dimension& part, const Dimension& whole);

// What all inputs broadcast to together. REQUIRES: none is omitted.
absl::StatusOr<Dimensions> BroadcastAllInputs(const NodeView& view);

// REQUIRES: every extent is known.
std::vector<int64_t> KnownExtents(absl::Span<const Dimension> dimensions);

// The values of a constant i32 or i64 input of rank 0 or 1. FAILED_PRECONDITION when it is not
// constant (see NodeView::RequireConstant).
absl::StatusOr<std::vector<int64_t>> ConstantInts(const NodeView& view, int input,
                                                  absl::string_view what);

// What is known of the elements of an i32 or i64 input of rank 0 or 1 (NodeView::contents). FAILED_PRECONDITION when not even
// their number is.
absl::StatusOr<Dimensions> KnownInts(const NodeView& view, int input, absl::string_view what);

// The value of a constant input of one number of any type (kAnyNumeric): in f64, or without its fraction. Errors as
// ConstantInts; INVALID_ARGUMENT for what no i64 is.
absl::StatusOr<double> ConstantReal(const NodeView& view, int input, absl::string_view what);
absl::StatusOr<int64_t> ConstantWhole(const NodeView& view, int input, absl::string_view what);

// The same in whole numbers of a constant, or as an input that is not constant holds it, as far as that is known. What the
// elements are is checked, and that there is one.
absl::StatusOr<Dimension> KnownWhole(const NodeView& view, int input, absl::string_view what);

// How many inputs an operator takes: `min` to `max`, or one number alone.
struct Arity {
  Arity(int count) : min(count), max(count) {}  // NOLINT: a number is an arity.
  Arity(int min_count, int max_count) : min(min_count), max(max_count) {}
  int min;
  int max;
};

// The schema of an operator without traits, and schemas added in order, for the tables of the families.
OperatorSchema OpaqueSchema(absl::string_view name, Arity inputs, TypeRule rule,
                            std::vector<AttributeSchema> attributes = {}, int max_outputs = 1);

// The same of an operator that makes each element of one element of each input, at its place or broadcast as Add's,
// and has a lowering.
OperatorSchema ElementwiseSchema(absl::string_view name, Arity inputs, TypeRule rule,
                                 std::vector<AttributeSchema> attributes = {});
absl::Status AddAll(OperatorRegistry& registry, absl::Span<const OperatorSchema> schemas);

// The schema with a contents rule.
OperatorSchema Knowing(OperatorSchema schema, ContentsRule rule);
// The schema of what moves elements (OperatorSchema::moves_elements).
OperatorSchema Moving(OperatorSchema schema);

// An attribute's schema, likewise.
AttributeSchema IntAttribute(absl::string_view name, std::optional<int64_t> default_value);
AttributeSchema FloatAttribute(absl::string_view name, std::optional<float> default_value);
AttributeSchema StringAttribute(absl::string_view name, std::optional<std::string> default_value);
AttributeSchema IntsAttribute(absl::string_view name);
AttributeSchema Required(AttributeSchema attribute);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_CHECKS_H_
