// Operators that move elements: every output element is an input element of another place, or padding.
#include "core/operators/movement.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/lower/broadcast.h"
#include "core/codegen/lower/families.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

using Funcs = absl::StatusOr<std::vector<Func>>;

// Halide's dimension of a tensor's axis.
int Dim(int rank, int64_t axis) { return rank - 1 - static_cast<int>(axis); }

Funcs LowerTranspose(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, DecodeTranspose(context.node));
  const int rank = static_cast<int>(perm.size());
  const std::vector<Var> vars = FreshVars(rank);
  std::vector<Expr> at(rank);
  for (int axis = 0; axis < rank; ++axis) at[Dim(rank, perm[axis])] = vars[Dim(rank, axis)];
  Func result("transposed");
  result(vars) = context.inputs[0](at);
  return std::vector<Func>{result};
}

// Each input is written to its part of the output by an update of its own, so that no element asks
// where it comes from. The dimension joined along is cut exactly, and so is every vector.
Funcs LowerConcat(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeConcat(context.node));
  const int rank = context.output_types[0].rank();
  const int dim = Dim(rank, axis);
  SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type type, HalideType(context.output_types[0].dtype()));
  const std::vector<Var> vars = FreshVars(rank);
  const std::vector<int> extents = HalideExtents(context.output_types[0]);
  Func result("concat");
  result(vars) = Halide::undef(type);
  JoinStages stages{{}, dim, vars, extents, type};
  Expr begin = 0;
  for (int i = 0; i < context.node.num_inputs(); ++i) {
    const Extent extent = context.Extents(context.node.input_type(i))[dim];
    if (extent.known == 0) continue;
    const Halide::RDom domain(0, extent.expr);
    std::vector<Expr> from = AsExprs(vars);
    from[dim] = domain.x;
    std::vector<Expr> to = from;
    to[dim] = begin + domain.x;
    result(to) = context.inputs[i](from);
    stages.parts.push_back({domain, static_cast<int>(stages.parts.size()), extent.known});
    begin = begin + extent.expr;
  }
  context.anchor = Anchor{AnchorKind::kJoin, std::move(stages)};
  return std::vector<Func>{result};
}

Funcs LowerSplit(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const SplitView split, DecodeSplit(context.node));
  const int rank = context.node.input_type(0).rank();
  std::vector<Func> results;
  int64_t begin = 0;
  for (const Dimension& part_extent : split.extents) {
    const int64_t extent = part_extent.extent();
    const std::vector<Var> vars = FreshVars(rank);
    std::vector<Expr> at = AsExprs(vars);
    at[Dim(rank, split.axis)] += static_cast<int>(begin);
    Func part("split");
    part(vars) = context.inputs[0](at);
    results.push_back(part);
    begin += extent;
  }
  return results;
}

Funcs LowerSlice(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const SliceView slice, DecodeSlice(context.node));
  const int rank = context.output_types[0].rank();
  const std::vector<Var> vars = FreshVars(rank);
  std::vector<Expr> at(rank);
  for (int axis = 0; axis < rank; ++axis) {
    at[Dim(rank, axis)] = vars[Dim(rank, axis)] * static_cast<int>(slice.steps[axis]) +
                          static_cast<int>(slice.starts[axis].extent());
  }
  Func result("slice");
  result(vars) = context.inputs[0](at);
  return std::vector<Func>{result};
}

// Indices come from outside: those out of range are clamped, so that nothing is read beyond the data.
Funcs LowerGather(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeGather(context.node));
  const std::vector<Extent> data = context.Extents(context.node.input_type(0));
  const int index_rank = context.node.input_type(1).rank();
  const int rank = context.output_types[0].rank();
  const std::vector<Var> vars = FreshVars(rank);
  // Innermost first: data dimensions inside the axis, the indices' dimensions, those outside.
  const int inner = Dim(static_cast<int>(data.size()), axis);
  const std::vector<Expr> index_at(vars.begin() + inner, vars.begin() + inner + index_rank);
  const Expr& extent = data[inner].expr;
  Expr index = context.inputs[1](index_at);
  index = Halide::select(index < 0, index + Halide::cast(index.type(), extent), index);
  index =
      Halide::clamp(index, Halide::cast(index.type(), 0), Halide::cast(index.type(), extent - 1));
  std::vector<Expr> at(vars.begin(), vars.begin() + inner);
  at.push_back(Halide::clamp(Halide::cast<int32_t>(index), 0, extent - 1));
  at.insert(at.end(), vars.begin() + inner + index_rank, vars.end());
  Func result("gather");
  result(vars) = context.inputs[0](at);
  return std::vector<Func>{result};
}

Funcs LowerExpand(LoweringContext& context) {
  const std::vector<Var> vars = FreshVars(context.output_types[0].rank());
  Func result("expand");
  result(vars) = ReadBroadcast(context.inputs[0], context.node.input_type(0), AsExprs(vars));
  return std::vector<Func>{result};
}

Funcs LowerPad(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const PadView pad, DecodePad(context.node));
  const std::vector<Extent> extents = context.Extents(context.node.input_type(0));
  const int rank = static_cast<int>(extents.size());
  SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type type, HalideType(context.output_types[0].dtype()));
  const std::vector<Var> vars = FreshVars(rank);
  std::vector<Expr> at(rank);
  Expr inside = Halide::Internal::const_true();
  for (int axis = 0; axis < rank; ++axis) {
    const int dim = Dim(rank, axis);
    const Expr last = extents[dim].expr - 1;
    const Expr last_or_0 = extents[dim].known == 0 ? Expr(0) : last;
    Expr position = vars[dim] - static_cast<int>(pad.begins[axis]);
    if (pad.mode == PadView::Mode::kReflect) {
      position = Halide::cast<int32_t>(Halide::abs(position));
      position = last - Halide::cast<int32_t>(Halide::abs(last - position));
    }
    if (pad.mode == PadView::Mode::kWrap) position = position % (last_or_0 + 1);
    if (pad.begins[axis] != 0 || pad.ends[axis] != 0) {
      inside = inside && position >= 0 && position <= last;
    }
    at[dim] = Halide::clamp(position, 0, last_or_0);
  }
  Expr value = context.inputs[0](at);
  if (pad.mode == PadView::Mode::kConstant) {
    Expr fill = Halide::Internal::make_zero(type);
    if (context.node.has_input(2)) {
      fill = context.inputs[2](std::vector<Expr>(context.node.input_type(2).rank(), Expr(0)));
    }
    value = Halide::select(inside, value, fill);
  }
  Func result("pad");
  result(vars) = value;
  return std::vector<Func>{result};
}

Funcs LowerDepthToSpace(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockMoveView move, DecodeBlockMove(context.node));
  const int block = static_cast<int>(move.block);
  const int channels = static_cast<int>(context.output_types[0].dimension(1).extent());
  Var x("x"), y("y"), c("c"), n("n");
  const Expr position = (y % block) * block + x % block;
  const Expr channel =
      move.channel_major ? c * (block * block) + position : position * channels + c;
  Func result("depth_to_space");
  result(x, y, c, n) = context.inputs[0](x / block, y / block, channel, n);
  return std::vector<Func>{result};
}

Funcs LowerSpaceToDepth(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockMoveView move, DecodeBlockMove(context.node));
  const int block = static_cast<int>(move.block);
  const int channels = static_cast<int>(context.node.input_type(0).dimension(1).extent());
  Var x("x"), y("y"), c("c"), n("n");
  const Expr position = move.channel_major ? c % (block * block) : c / channels;
  const Expr channel = move.channel_major ? c / (block * block) : c % channels;
  Func result("space_to_depth");
  result(x, y, c, n) =
      context.inputs[0](x * block + position % block, y * block + position / block, channel, n);
  return std::vector<Func>{result};
}

absl::Status Refused(const NodeView& node) {
  return node.Unimplemented("no kernel can be generated for such open extents yet");
}

// Where parts and slices begin must be known, and how wide blocks are.
absl::Status ServesSplit(const NodeView& node, absl::Span<const ValueType> outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const SplitView split, DecodeSplit(node));
  for (const Dimension& extent : split.extents) {
    if (!extent.is_known()) return Refused(node);
  }
  return ServesEveryType(node, outputs);
}

absl::Status ServesSlice(const NodeView& node, absl::Span<const ValueType> outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const SliceView slice, DecodeSlice(node));
  for (const Dimension& start : slice.starts) {
    if (!start.is_known()) return Refused(node);
  }
  for (const Dimension& extent : outputs[0].dimensions()) {
    if (extent.is_unknown()) return Refused(node);
  }
  return ServesEveryType(node, outputs);
}

absl::Status ServesExpand(const NodeView& node, absl::Span<const ValueType> outputs) {
  const ValueType& x = node.input_type(0);
  const int offset = outputs[0].rank() - x.rank();
  for (int d = 0; d < x.rank(); ++d) {
    const Dimension extent = x.dimension(d);
    const bool fits =
        extent == Dimension(1) || SameExtent(extent, outputs[0].dimension(d + offset));
    if (!fits) return Refused(node);
  }
  return ServesEveryType(node, outputs);
}

// An extent that is not known may be 0, and then there is nothing to read in place of what is outside.
absl::Status ServesGather(const NodeView& node, absl::Span<const ValueType> outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeGather(node));
  if (!node.input_type(0).dimension(static_cast<int>(axis)).is_known()) return Refused(node);
  return ServesEveryType(node, outputs);
}

absl::Status ServesPad(const NodeView& node, absl::Span<const ValueType> outputs) {
  const absl::StatusOr<PadView> pad = DecodePad(node);
  if (!pad.ok()) return Refused(node);
  for (int d = 0; d < outputs[0].rank() && pad->mode != PadView::Mode::kConstant; ++d) {
    const bool padded = pad->begins[d] > 0 || pad->ends[d] > 0;
    if (padded && !node.input_type(0).dimension(d).is_known()) return Refused(node);
  }
  return ServesEveryType(node, outputs);
}

absl::Status ServesBlocks(const NodeView& node, absl::Span<const ValueType> outputs) {
  if (!node.input_type(0).dimension(1).is_known()) return Refused(node);
  return ServesEveryType(node, outputs);
}

// All but the joined dimension must be seen to be the same.
absl::Status ServesConcat(const NodeView& node, absl::Span<const ValueType> outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeConcat(node));
  for (int i = 0; i < node.num_inputs(); ++i) {
    for (int d = 0; d < outputs[0].rank(); ++d) {
      if (d == axis) continue;
      if (!SameExtent(node.input_type(i).dimension(d), outputs[0].dimension(d))) {
        return Refused(node);
      }
    }
  }
  return ServesEveryType(node, outputs);
}

}  // namespace

absl::Status RegisterMovementLowerings(Lowerings& lowerings) {
  const struct {
    const char* op;
    Funcs (*lower)(LoweringContext&);
    ServesFunction serves;
  } rows[] = {
      {"Concat", LowerConcat, ServesConcat},
      {"DepthToSpace", LowerDepthToSpace, ServesBlocks},
      {"Expand", LowerExpand, ServesExpand},
      {"Gather", LowerGather, ServesGather},
      {"Pad", LowerPad, ServesPad},
      {"Slice", LowerSlice, ServesSlice},
      {"SpaceToDepth", LowerSpaceToDepth, ServesBlocks},
      {"Split", LowerSplit, ServesSplit},
      {"Transpose", LowerTranspose, ServesEveryType},
  };
  for (const auto& row : rows) {
    SLIPWAY_RETURN_IF_ERROR(lowerings.Add(row.op, Lowering(row.lower).Serving(row.serves).Open()));
  }
  return absl::OkStatus();
}

}  // namespace slipway
