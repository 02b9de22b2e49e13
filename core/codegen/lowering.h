// Lowering: what an operator contributes to the Halide pipeline of its fusion group.
//
// A tensor of shape [d0, ..., dk] is a Func of k + 1 dimensions in Halide's order, innermost first:
// func(ik, ..., i0). Elements are bool as UInt(8) (0 or 1) and otherwise of the type that the name says.
// All extents are known.
#ifndef SLIPWAY_CORE_CODEGEN_LOWERING_H_
#define SLIPWAY_CORE_CODEGEN_LOWERING_H_

#include <halide14/Halide.h>

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/codegen/machine.h"
#include "core/graph/operator_column.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// How an operator that is more than an expression wants to be computed. `result` is the Func to
// schedule: the operator's own output or, when `takes_epilogue`, a Func of the same shape that an
// elementwise tail of the group made of it. The callback schedules `result` and everything of the
// operator below it.
struct AnchorSchedule {
  bool takes_epilogue = false;
  std::function<void(Halide::Func result)> apply;
};

struct LoweringContext {
  const NodeView& node;
  const Machine& machine;
  absl::Span<const Halide::Func> inputs;        // One a node input; undefined where it is omitted.
  absl::Span<const TensorType> output_types;    // One an output of the node.
  std::optional<AnchorSchedule> schedule = {};  // Set by anchors; without it outputs are inlined.
};

// Returns one Func an output of the node. UNIMPLEMENTED names node, operator and what is missing.
// Halide's errors may be thrown; the caller catches them.
using LowerFunction = std::function<absl::StatusOr<std::vector<Halide::Func>>(LoweringContext&)>;

struct Lowering {
  template <typename Function>
  requires std::is_convertible_v<Function, LowerFunction> Lowering(
      Function function, std::string lowering_revision = "")
      : lower(std::move(function)), revision(std::move(lowering_revision)) {}

  LowerFunction lower;
  // Part of the key of every kernel with this operator. Empty for those of core/codegen, whose sources are
  // in every key. Others name themselves and what they were changed to ("example.com/snake 3"): who
  // changes the lowering changes this, or caches go on giving kernels of the old one.
  std::string revision;
};

using Lowerings = OperatorColumn<Lowering>;

// The element type of a tensor in a pipeline. UNIMPLEMENTED names types without one.
absl::StatusOr<Halide::Type> HalideType(DataType dtype);

// A Func's dimensions from a tensor's shape: extents innermost first.
std::vector<int> HalideExtents(absl::Span<const int64_t> shape);

// `rank` fresh Vars.
std::vector<Halide::Var> FreshVars(int rank);
std::vector<Halide::Expr> AsExprs(const std::vector<Halide::Var>& vars);

// UNIMPLEMENTED unless every input present and every output is f32; names the type that is not.
absl::Status RequireFloat32(const LoweringContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWERING_H_
