// Lowering: what an operator contributes to the Halide pipeline of its fusion group. It says what is computed; how,
// is for a schedule to say (anchor.h), and no lowering knows a machine.
//
// A tensor of shape [d0, ..., dk] is a Func of k + 1 dimensions in Halide's order, innermost first:
// func(ik, ..., i0). Elements are bool as UInt(8) (0 or 1) and otherwise of the type that the name says.
// All extents are known but where a lowering says that it serves open ones (Lowering::open).
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
#include "core/codegen/anchor.h"
#include "core/graph/operator_column.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// An extent of a tensor in a pipeline.
struct Extent {
  Extent(int extent) : known(extent), expr(extent) {}  // NOLINT: a number is an extent.
  Extent(int known_extent, Halide::Expr extent) : known(known_extent), expr(std::move(extent)) {}

  int known;          // kOpen where it is not known.
  Halide::Expr expr;  // i32, always.
};
std::vector<int> KnownExtents(const std::vector<Extent>& extents);

// The extent that an open dimension of an input has when the kernel runs.
using OpenExtent = std::function<Halide::Expr(const Dimension&)>;
// The extents of a value, innermost first.
std::vector<Extent> Extents(const ValueType& type, const OpenExtent& open_extent);

struct LoweringContext {
  // Of a value of the group.
  std::vector<Extent> Extents(const ValueType& type) const {
    return slipway::Extents(type, open_extent);
  }

  const NodeView& node;
  // f32 elements that the machine works on at once: a sum along the innermost dimension keeps so many parts.
  const int lanes;
  absl::Span<const Halide::Func> inputs;     // One a node input; undefined where it is omitted.
  absl::Span<const ValueType> output_types;  // One an output of the node.
  const OpenExtent& open_extent;
  // Schedules a Func on the way to the output, which the lowering has given memory of its own.
  const ScheduleFunction& schedule;
  // Set by operators that are more than an expression: what a schedule needs to compute the first output and
  // what is below it. Without it outputs are inlined.
  std::optional<Anchor> anchor = {};
};

// Returns one Func an output of the node. UNIMPLEMENTED names node, operator and what is missing.
// Halide's errors may be thrown; the caller catches them.
using LowerFunction = std::function<absl::StatusOr<std::vector<Halide::Func>>(LoweringContext&)>;

// Whether a lowering serves a node: OK, or UNIMPLEMENTED that names node, operator and what is missing. There is an entry
// an output of the node, unset where it is omitted.
using ServesFunction =
    std::function<absl::Status(const NodeView& node, absl::Span<const ValueType> outputs)>;

// Nodes all of whose inputs and outputs are f32; are of any type that a pipeline computes in, which bf16 is not.
absl::Status ServesFloat32(const NodeView& node, absl::Span<const ValueType> outputs);
absl::Status ServesEveryType(const NodeView& node, absl::Span<const ValueType> outputs);

struct Lowering {
  template <typename Function>
  requires std::is_convertible_v<Function, LowerFunction> Lowering(
      Function function, std::string lowering_revision = "")
      : lower(std::move(function)), revision(std::move(lowering_revision)) {}

  // The same lowering, for these nodes alone.
  Lowering Serving(ServesFunction function) const {
    Lowering lowering = *this;
    lowering.serves = std::move(function);
    return lowering;
  }

  // The same lowering, for open extents too.
  Lowering Open() const {
    Lowering lowering = *this;
    lowering.open = true;
    return lowering;
  }

  LowerFunction lower;
  bool open = false;  // Whether it serves nodes with extents that are not known.
  ServesFunction serves = ServesEveryType;  // Asked before `lower`.
  // Part of the key of every kernel with this operator. Empty for those of core/codegen, whose sources are
  // in every key. Others name themselves and what they were changed to ("example.com/snake 3"): who
  // changes the lowering changes this, or caches go on giving kernels of the old one.
  std::string revision;
};

using Lowerings = OperatorColumn<Lowering>;

// Whether no output has an element: there is nothing to lower.
bool MakesNothing(absl::Span<const ValueType> outputs);

// OK where a kernel can be generated for the node: a lowering serves it, or it makes no element. Otherwise UNIMPLEMENTED,
// as ServesFunction.
absl::Status CheckLowered(const Lowerings& lowerings, const NodeView& node,
                          absl::Span<const ValueType> outputs);

// The element type of a tensor in a pipeline. UNIMPLEMENTED names types without one.
absl::StatusOr<Halide::Type> HalideType(DataType dtype);

// A Func's dimensions from a tensor's shape: extents innermost first.
std::vector<int> HalideExtents(absl::Span<const int64_t> shape);
std::vector<int> HalideExtents(const ValueType& type);  // kOpen where they are not known.

// `rank` fresh Vars.
std::vector<Halide::Var> FreshVars(int rank);
std::vector<Halide::Expr> AsExprs(const std::vector<Halide::Var>& vars);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWERING_H_
