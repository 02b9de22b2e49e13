#include "core/operators/movement.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

using Types = absl::StatusOr<std::vector<TensorType>>;

Types WithShape(const NodeView& view, Shape shape) {
  return std::vector<TensorType>{{view.input_type(0).dtype, std::move(shape)}};
}

Types TransposeType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, DecodeTranspose(view));
  Shape to;
  for (const int64_t from : perm) to.push_back(view.input_shape(0)[from]);
  return WithShape(view, to);
}

Types ConcatType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeConcat(view));
  Shape to = view.input_shape(0);
  for (int i = 1; i < view.num_inputs(); ++i) to[axis] += view.input_shape(i)[axis];
  return WithShape(view, to);
}

Types GatherType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeGather(view));
  const Shape& data = view.input_shape(0);
  const Shape& indices = view.input_shape(1);
  Shape to(data.begin(), data.begin() + axis);
  to.insert(to.end(), indices.begin(), indices.end());
  to.insert(to.end(), data.begin() + axis + 1, data.end());
  return WithShape(view, to);
}

Types SplitType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const SplitView split, DecodeSplit(view));
  std::vector<TensorType> types(split.extents.size(), view.input_type(0));
  for (size_t i = 0; i < types.size(); ++i) types[i].shape[split.axis] = split.extents[i];
  return types;
}

Types SliceType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const SliceView slice, DecodeSlice(view));
  return WithShape(view, slice.output);
}

Types ExpandType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> wanted, ConstantInts(view, 1, "shape"));
  const auto sane = CheckShape(wanted, 1);
  if (!sane.ok()) return view.Annotated(sane.status());
  auto both = BroadcastShapes(view.input_shape(0), wanted);
  if (!both.ok()) return view.Annotated(both.status());
  return WithShape(view, *std::move(both));
}

Types PadType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const PadView pad, DecodePad(view));
  return WithShape(view, pad.output);
}

Types DepthToSpaceType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockMoveView move, DecodeBlockMove(view));
  const Shape& x = view.input_shape(0);
  return WithShape(view,
                   {x[0], x[1] / (move.block * move.block), x[2] * move.block, x[3] * move.block});
}

Types SpaceToDepthType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockMoveView move, DecodeBlockMove(view));
  const Shape& x = view.input_shape(0);
  return WithShape(view,
                   {x[0], x[1] * move.block * move.block, x[2] / move.block, x[3] / move.block});
}

absl::StatusOr<int64_t> AxisOfFirst(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  return NormalizeAxis(view, view.Int("axis"), view.input_shape(0).size());
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> DecodeTranspose(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  const size_t rank = view.input_shape(0).size();
  std::vector<int64_t> perm;
  if (view.has("perm")) {
    perm = view.Ints("perm");
  } else {
    for (size_t d = rank; d > 0; --d) perm.push_back(static_cast<int64_t>(d) - 1);
  }
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool whole = sorted.size() == rank;
  for (size_t d = 0; whole && d < rank; ++d) whole = sorted[d] == static_cast<int64_t>(d);
  if (!whole) {
    return view.Error(
        absl::StrCat("\"perm\" ", ToString(perm), " is no permutation of ", rank, " dimensions"));
  }
  return perm;
}

absl::StatusOr<int64_t> DecodeConcat(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, AxisOfFirst(view));
  const Shape& first = view.input_shape(0);
  for (int i = 1; i < view.num_inputs(); ++i) {
    const Shape& shape = view.input_shape(i);
    bool fits = shape.size() == first.size();
    for (size_t d = 0; fits && d < first.size(); ++d) {
      fits = shape[d] == first[d] || static_cast<int64_t>(d) == axis;
    }
    if (!fits) {
      return view.Error(absl::StrCat("input ", i, " of shape ", ToString(shape), " does not join ",
                                     ToString(first), " along axis ", axis));
    }
  }
  return axis;
}

absl::StatusOr<int64_t> DecodeGather(const NodeView& view) {
  const DataType indices = view.input_type(1).dtype;
  if (indices != DataType::kInt64 && indices != DataType::kInt32) {
    return view.Error(
        absl::StrCat("indices (input 1) are of type ", Name(indices), ", not i32 or i64"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, AxisOfFirst(view));
  if (view.input_shape(0)[axis] == 0 && view.input_type(1).num_elements() > 0) {
    return view.Error("there is nothing to gather from an empty dimension");
  }
  return axis;
}

absl::StatusOr<SplitView> DecodeSplit(const NodeView& view) {
  SplitView split;
  SLIPWAY_ASSIGN_OR_RETURN(split.axis, AxisOfFirst(view));
  const int64_t extent = view.input_shape(0)[split.axis];
  const int64_t parts = view.num_outputs();
  if (!view.has_input(1)) {
    if (extent % parts != 0) {
      return view.Error(absl::StrCat("cannot split ", extent, " into ", parts, " equal parts"));
    }
    split.extents.assign(parts, extent / parts);
    return split;
  }
  SLIPWAY_ASSIGN_OR_RETURN(split.extents, ConstantInts(view, 1, "split"));
  int64_t left = extent;
  for (const int64_t part : split.extents) {
    if (part < 0 || part > left) {
      left = -1;
      break;
    }
    left -= part;
  }
  if (left != 0 || static_cast<int64_t>(split.extents.size()) != parts) {
    return view.Error(absl::StrCat("parts ", ToString(split.extents), " do not split ", extent,
                                   " for ", parts, " outputs"));
  }
  return split;
}

absl::StatusOr<SliceView> DecodeSlice(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  const Shape& from = view.input_shape(0);
  const int64_t rank = static_cast<int64_t>(from.size());
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> starts, ConstantInts(view, 1, "starts"));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> ends, ConstantInts(view, 2, "ends"));
  std::vector<int64_t> axes;
  if (view.has_input(3)) {
    SLIPWAY_ASSIGN_OR_RETURN(axes, ConstantInts(view, 3, "axes"));
  } else {
    for (size_t d = 0; d < starts.size(); ++d) axes.push_back(static_cast<int64_t>(d));
  }
  std::vector<int64_t> steps(starts.size(), 1);
  if (view.has_input(4)) {
    SLIPWAY_ASSIGN_OR_RETURN(steps, ConstantInts(view, 4, "steps"));
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    return view.Error(absl::StrCat("starts, ends, axes and steps have ", starts.size(), ", ",
                                   ends.size(), ", ", axes.size(), " and ", steps.size(),
                                   " entries"));
  }
  SLIPWAY_RETURN_IF_ERROR(NormalizeAxes(view, axes, rank).status());

  SliceView slice{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 1), from};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    const int64_t extent = from[axis];
    const int64_t step = steps[i];
    if (step == 0 || step == std::numeric_limits<int64_t>::min()) {
      return view.Error(absl::StrCat("a step of ", step, " along axis ", axis));
    }
    // Python's rule: negative positions count from the end, everything is clamped.
    const auto position = [extent](int64_t at, int64_t lowest, int64_t highest) {
      if (at < 0) at = at < -extent ? -1 : at + extent;
      return std::clamp(at, lowest, highest);
    };
    int64_t start = 0;
    int64_t count = 0;
    if (step > 0) {
      start = starts[i] < -extent ? 0 : position(starts[i], 0, extent);
      const int64_t end = ends[i] < -extent ? 0 : position(ends[i], 0, extent);
      count = end > start ? (end - start - 1) / step + 1 : 0;
    } else {
      start = position(starts[i], -1, extent - 1);
      const int64_t end = position(ends[i], -1, extent - 1);
      count = start > end ? (start - end - 1) / -step + 1 : 0;
    }
    slice.starts[axis] = count == 0 ? 0 : start;
    slice.steps[axis] = step;
    slice.output[axis] = count;
  }
  return slice;
}

absl::StatusOr<PadView> DecodePad(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  const Shape& from = view.input_shape(0);
  const size_t rank = from.size();
  PadView pad;
  const std::string& mode = view.String("mode");
  if (mode == "reflect") {
    pad.mode = PadView::Mode::kReflect;
  } else if (mode == "edge") {
    pad.mode = PadView::Mode::kEdge;
  } else if (mode != "constant") {
    return view.Error(absl::StrCat("\"mode\" is \"", mode, "\", not constant, reflect or edge"));
  }
  if (view.has_input(2) && (view.input_type(2).dtype != view.input_type(0).dtype ||
                            view.input_type(2).num_elements() != 1)) {
    return view.Error(
        absl::StrCat("the value (input 2) must be one ", Name(view.input_type(0).dtype)));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, ConstantInts(view, 1, "pads"));
  if (pads.size() != 2 * rank) {
    return view.Error(absl::StrCat("there are ", pads.size(), " pads, ", 2 * rank, " are needed"));
  }
  pad.begins.assign(pads.begin(), pads.begin() + rank);
  pad.ends.assign(pads.begin() + rank, pads.end());
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (size_t d = 0; d < rank; ++d) {
    const int64_t begin = pad.begins[d];
    const int64_t end = pad.ends[d];
    const bool in_range = begin >= -kMost && begin <= kMost && end >= -kMost && end <= kMost;
    const int64_t extent = in_range ? from[d] + begin + end : -1;
    const bool cut_too_much = std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0) + from[d] < 0;
    const bool grows = begin > 0 || end > 0;
    const bool nothing_to_copy =
        (pad.mode == PadView::Mode::kReflect && grows && std::max(begin, end) >= from[d]) ||
        (pad.mode == PadView::Mode::kEdge && grows && from[d] == 0);
    if (extent < 0 || cut_too_much || nothing_to_copy) {
      return view.Error(
          absl::StrCat("pads ", begin, " and ", end, " do not fit dimension ", d, " of ", from[d]));
    }
    pad.output.push_back(extent);
  }
  return pad;
}

absl::StatusOr<BlockMoveView> DecodeBlockMove(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 4, 4));
  const Shape& x = view.input_shape(0);
  BlockMoveView move;
  move.block = view.Int("blocksize");
  if (move.block < 1 || move.block > (1 << 15)) {
    return view.Error(absl::StrCat("\"blocksize\" is ", move.block));
  }
  const bool depth_to_space = view.op() == "DepthToSpace";
  const bool fits = depth_to_space ? x[1] % (move.block * move.block) == 0
                                   : x[2] % move.block == 0 && x[3] % move.block == 0;
  if (!fits) {
    return view.Error(
        absl::StrCat("blocks of ", move.block, " do not fit the shape ", ToString(x)));
  }
  if (view.has("mode")) {
    const std::string& mode = view.String("mode");
    if (mode != "DCR" && mode != "CRD") {
      return view.Error(absl::StrCat("\"mode\" is \"", mode, "\", not DCR or CRD"));
    }
    move.channel_major = mode == "CRD";
  }
  return move;
}

absl::Status RegisterMovementOperators(OperatorRegistry& registry) {
  struct Row {
    const char* name;
    int min_inputs;
    int max_inputs;
    int max_outputs;
    std::vector<AttributeSchema> attributes;
    Types (*rule)(const NodeView&);
    Movement movement = Movement::kOther;
  };
  const AttributeSchema axis = Required(IntAttribute("axis", std::nullopt));
  const AttributeSchema blocks = Required(IntAttribute("blocksize", std::nullopt));
  const AttributeSchema block_mode = StringAttribute("mode", "DCR");
  const Row rows[] = {
      {"Transpose", 1, 1, 1, {IntsAttribute("perm")}, TransposeType, Movement::kPermutation},
      {"Concat", 1, kVariadic, 1, {axis}, ConcatType, Movement::kConcat},
      {"Split", 1, 2, kVariadic, {IntAttribute("axis", 0)}, SplitType},
      {"Slice", 3, 5, 1, {}, SliceType},
      {"Gather", 2, 2, 1, {IntAttribute("axis", 0)}, GatherType},
      {"Expand", 2, 2, 1, {}, ExpandType},
      {"Pad", 2, 3, 1, {StringAttribute("mode", "constant")}, PadType},
      {"DepthToSpace", 1, 1, 1, {blocks, block_mode}, DepthToSpaceType, Movement::kPermutation},
      {"SpaceToDepth", 1, 1, 1, {blocks}, SpaceToDepthType, Movement::kPermutation},
  };
  for (const Row& row : rows) {
    OperatorSchema schema;
    schema.name = row.name;
    schema.min_inputs = row.min_inputs;
    schema.max_inputs = row.max_inputs;
    schema.max_outputs = row.max_outputs;
    schema.attributes = row.attributes;
    schema.pattern = Pattern::kInjective;
    schema.movement = row.movement;
    if (row.movement == Movement::kConcat) schema.layout.role = LayoutRole::kConcat;
    schema.type_rule = row.rule;
    SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  }
  return absl::OkStatus();
}

}  // namespace slipway
