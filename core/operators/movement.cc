#include "core/operators/movement.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/operators/contents.h"

namespace slipway {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

Types WithDimensions(const NodeView& view, const Dimensions& dimensions) {
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), dimensions)};
}

Types TransposeType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, DecodeTranspose(view));
  Dimensions to;
  for (const int64_t from : perm)
    to.push_back(view.input_type(0).dimension(static_cast<int>(from)));
  return WithDimensions(view, to);
}

Types ConcatType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeConcat(view));
  Dimensions to = DimensionsOf(view, 0);
  for (int i = 1; i < view.num_inputs(); ++i) {
    const Dimensions next = DimensionsOf(view, i);
    for (size_t d = 0; d < to.size(); ++d) {
      to[d] = static_cast<int64_t>(d) == axis ? to[d] + next[d] : MorePrecise(to[d], next[d]);
    }
  }
  return WithDimensions(view, to);
}

Types GatherType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeGather(view));
  Dimensions to = DimensionsOf(view, 0, 0, axis);
  for (const Dimension& extent : DimensionsOf(view, 1)) to.push_back(extent);
  for (const Dimension& extent : DimensionsOf(view, 0, axis + 1)) to.push_back(extent);
  return WithDimensions(view, to);
}

Types ExpandType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions wanted, KnownInts(view, 1, "shape"));
  if (const std::optional<Shape> known = KnownShape(wanted)) {
    const auto sane = CheckShape(*known, 1);
    if (!sane.ok()) return view.Annotated(sane.status());
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions both,
                           BroadcastInputs(view, DimensionsOf(view, 0), wanted));
  return WithDimensions(view, both);
}

Types DepthToSpaceType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockMoveView move, DecodeBlockMove(view));
  const Dimensions x = DimensionsOf(view, 0);
  return WithDimensions(view, {x[0], FloorDivide(x[1], move.block * move.block), x[2] * move.block,
                               x[3] * move.block});
}

Types SpaceToDepthType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockMoveView move, DecodeBlockMove(view));
  const Dimensions x = DimensionsOf(view, 0);
  return WithDimensions(view, {x[0], x[1] * (move.block * move.block),
                               FloorDivide(x[2], move.block), FloorDivide(x[3], move.block)});
}

absl::StatusOr<int64_t> AxisOfFirst(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  return NormalizeAxis(view, view.Int("axis"), view.input_type(0).rank());
}

Types SplitType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const SplitView split, DecodeSplit(view));
  std::vector<ValueType> types;
  Dimensions to = DimensionsOf(view, 0);
  for (const Dimension& extent : split.extents) {
    to[split.axis] = extent;
    types.emplace_back(view.input_type(0).dtype(), to);
  }
  return types;
}

// What a Slice asks for along one axis.
struct AxisSlice {
  int64_t axis = 0;
  Dimension start;
  Dimension end;
  int64_t step = 1;
};

// Not set where the axes are not known before running.
absl::StatusOr<std::optional<std::vector<AxisSlice>>> SlicesOf(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  const int64_t rank = view.input_type(0).rank();
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions starts, KnownInts(view, 1, "starts"));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions ends, KnownInts(view, 2, "ends"));
  Dimensions axes;
  if (view.has_input(3)) {
    SLIPWAY_ASSIGN_OR_RETURN(axes, KnownInts(view, 3, "axes"));
  } else {
    for (size_t d = 0; d < starts.size(); ++d) axes.emplace_back(static_cast<int64_t>(d));
  }
  Dimensions steps(starts.size(), 1);
  if (view.has_input(4)) {
    SLIPWAY_ASSIGN_OR_RETURN(steps, KnownInts(view, 4, "steps"));
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    return view.Error(absl::StrCat("starts, ends, axes and steps have ", starts.size(), ", ",
                                   ends.size(), ", ", axes.size(), " and ", steps.size(),
                                   " entries"));
  }
  const std::optional<Shape> named = KnownShape(axes);
  if (!named.has_value()) return std::optional<std::vector<AxisSlice>>();
  SLIPWAY_RETURN_IF_ERROR(NormalizeAxes(view, {named->begin(), named->end()}, rank).status());
  std::vector<AxisSlice> slices;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = (*named)[i] < 0 ? (*named)[i] + rank : (*named)[i];
    if (!steps[i].is_known()) {
      slices.push_back({axis, Dimension(), Dimension()});
      continue;
    }
    const int64_t step = steps[i].extent();
    if (step == 0 || step == std::numeric_limits<int64_t>::min()) {
      return view.Error(absl::StrCat("a step of ", step, " along axis ", axis));
    }
    slices.push_back({axis, starts[i], ends[i], step});
  }
  return slices;
}

struct StartAndCount {
  int64_t start = 0;
  int64_t count = 0;
};

// Negative positions count from the end, everything is clamped: as Python does but for one thing, that a slice which goes
// backwards begins at an element even where it is told to begin before the first.
// REQUIRES: its start and end are known.
StartAndCount SliceOfKnown(const AxisSlice& slice, int64_t extent) {
  if (extent == 0) return {};
  const auto position = [extent](int64_t at, int64_t lowest, int64_t highest) {
    if (at < 0) at = at < -extent ? -1 : at + extent;
    return std::clamp(at, lowest, highest);
  };
  const int64_t first = slice.start.extent();
  const int64_t last = slice.end.extent();
  int64_t start = 0;
  int64_t count = 0;
  if (slice.step > 0) {
    start = first < -extent ? 0 : position(first, 0, extent);
    const int64_t end = last < -extent ? 0 : position(last, 0, extent);
    count = end > start ? (end - start - 1) / slice.step + 1 : 0;
  } else {
    start = position(first, 0, extent - 1);
    const int64_t end = position(last, -1, extent - 1);
    count = start > end ? (start - end - 1) / -slice.step + 1 : 0;
  }
  return {count == 0 ? 0 : start, count};
}

// A position of a slice that goes forwards, within [0, extent]. Not known where its sign is not.
Dimension Position(const NodeView& view, const Dimension& at, const Dimension& extent) {
  if (at == Dimension(0) || at.is_unknown()) return at;
  if (at.is_known() && at.extent() >= kMaxSymbolValue) return extent;
  if (at.is_known() && at.extent() <= -kMaxSymbolValue) return 0;
  if (at.is_known() && at.extent() < 0) return OrZero(view, extent + at);
  return view.IsNeverNegative(at) ? Min(extent, at) : Dimension();
}

// The same rule where an extent or a position is open, as far as it can be said: forwards.
Dimension CountOfOpen(const NodeView& view, const AxisSlice& slice, const Dimension& extent) {
  if (slice.step < 0) return Dimension();
  const Dimension end = Position(view, slice.end, extent);
  if (slice.start == Dimension(0) && slice.end.is_known() && slice.end.extent() < 0) {
    return CeilDivide(OrZero(view, extent + slice.end), slice.step);
  }
  if (slice.start == Dimension(0)) return CeilDivide(end, slice.step);
  if (slice.start.is_known() && slice.start.extent() < 0 && end == extent) {
    return CeilDivide(Min(extent, -slice.start.extent()), slice.step);
  }
  const Dimension start = slice.start.is_known() && slice.start.extent() > 0
                              ? slice.start
                              : Position(view, slice.start, extent);
  return CeilDivide(OrZero(view, end - start), slice.step);
}

bool IsKnown(const AxisSlice& slice, const Dimension& extent) {
  return extent.is_known() && slice.start.is_known() && slice.end.is_known();
}

Types SliceType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const SliceView slice, DecodeSlice(view));
  return WithDimensions(view, slice.output);
}

absl::Status CheckPad(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_RETURN_IF_ERROR(DecodePadMode(view).status());
  if (view.has_input(2) && (view.input_type(2).dtype() != view.input_type(0).dtype() ||
                            view.Differ(NumElements(DimensionsOf(view, 2)), 1))) {
    return view.Error(
        absl::StrCat("the value (input 2) must be one ", Name(view.input_type(0).dtype())));
  }
  return absl::OkStatus();
}

absl::Status CheckNumberOfPads(const NodeView& view, size_t pads, size_t axes) {
  if (pads == 2 * axes) return absl::OkStatus();
  return view.Error(absl::StrCat("there are ", pads, " pads, ", 2 * axes, " are needed"));
}

// Where pads or axes are not constant.
Types OpenPadType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckPad(view));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions pads, KnownInts(view, 1, "pads"));
  Dimensions to = DimensionsOf(view, 0);
  const auto rank = static_cast<int64_t>(to.size());
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (view.has_input(3)) {
    SLIPWAY_ASSIGN_OR_RETURN(const Dimensions given, KnownInts(view, 3, "axes"));
    const std::optional<Shape> named = KnownShape(given);
    if (!named.has_value()) {
      SLIPWAY_RETURN_IF_ERROR(CheckNumberOfPads(view, pads.size(), given.size()));
      return WithDimensions(view, Dimensions(to.size()));
    }
    axes.assign(named->begin(), named->end());
    SLIPWAY_RETURN_IF_ERROR(NormalizeAxes(view, axes, rank).status());
  }
  SLIPWAY_RETURN_IF_ERROR(CheckNumberOfPads(view, pads.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    Dimension& extent = to[axes[i] < 0 ? axes[i] + rank : axes[i]];
    extent = extent + pads[i] + pads[axes.size() + i];
  }
  return WithDimensions(view, to);
}

Types PadType(const NodeView& view) {
  const bool is_known =
      view.constant(1) != nullptr && (!view.has_input(3) || view.constant(3) != nullptr);
  if (!is_known) return OpenPadType(view);
  SLIPWAY_ASSIGN_OR_RETURN(const PadView pad, DecodePad(view));
  Dimensions to = DimensionsOf(view, 0);
  for (size_t d = 0; d < to.size(); ++d) to[d] = to[d] + (pad.begins[d] + pad.ends[d]);
  return WithDimensions(view, to);
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> DecodeTranspose(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  const size_t rank = view.input_type(0).rank();
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
  const Dimensions first = DimensionsOf(view, 0);
  for (int i = 1; i < view.num_inputs(); ++i) {
    const Dimensions next = DimensionsOf(view, i);
    bool fits = next.size() == first.size();
    for (size_t d = 0; fits && d < first.size(); ++d) {
      fits = static_cast<int64_t>(d) == axis || !view.Differ(next[d], first[d]);
    }
    if (!fits) {
      return view.Error(absl::StrCat("input ", i, " of shape ", ToString(next), " does not join ",
                                     ToString(first), " along axis ", axis));
    }
  }
  return axis;
}

absl::StatusOr<int64_t> DecodeGather(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckIndices(view, 1));
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, AxisOfFirst(view));
  const Dimension wanted = NumElements(DimensionsOf(view, 1));
  if (view.input_type(0).dimension(static_cast<int>(axis)) == Dimension(0) && wanted.is_known() &&
      wanted.extent() > 0) {
    return view.Error("there is nothing to gather from an empty dimension");
  }
  return axis;
}

absl::StatusOr<SplitView> DecodeSplit(const NodeView& view) {
  SplitView split;
  SLIPWAY_ASSIGN_OR_RETURN(split.axis, AxisOfFirst(view));
  const Dimension extent = view.input_type(0).dimension(static_cast<int>(split.axis));
  const int64_t parts = view.num_outputs();
  if (view.has_input(1) == view.has("num_outputs")) {
    return view.Error("either the parts (input 1) or \"num_outputs\" must be given");
  }
  if (!view.has_input(1)) {
    if (view.Int("num_outputs") != parts) {
      return view.Error(absl::StrCat("\"num_outputs\" is ", view.Int("num_outputs"), " where ",
                                     parts, " outputs are listed"));
    }
    const Dimension part = CeilDivide(extent, parts);
    split.extents.assign(parts, part);
    split.extents.back() = extent - part * (parts - 1);  // What is left.
    const Dimension& last = split.extents.back();
    if (last.is_known() && last.extent() < 0) {
      return view.Error(absl::StrCat("cannot split ", ToString(extent), " into ", parts,
                                     " parts of ", ToString(part)));
    }
    return split;
  }
  SLIPWAY_ASSIGN_OR_RETURN(split.extents, KnownInts(view, 1, "split"));
  Dimension sum = 0;
  bool fits = static_cast<int64_t>(split.extents.size()) == parts;
  for (const Dimension& part : split.extents) {
    fits = fits && !(part.is_known() && part.extent() < 0);
    const bool overflows = sum.is_known() && part.is_known() && (sum + part).is_unknown();
    fits = fits && !overflows;
    sum = sum + part;
  }
  if (!fits || view.Differ(sum, extent)) {
    return view.Error(absl::StrCat("parts ", ToString(split.extents), " do not split ",
                                   ToString(extent), " for ", parts, " outputs"));
  }
  return split;
}

absl::StatusOr<SliceView> DecodeSlice(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::optional<std::vector<AxisSlice>> slices, SlicesOf(view));
  const Dimensions from = DimensionsOf(view, 0);
  const std::vector<int64_t> ones(from.size(), 1);
  if (!slices.has_value()) {
    return SliceView{Dimensions(from.size()), ones, Dimensions(from.size())};
  }
  SliceView decoded{Dimensions(from.size(), 0), ones, from};
  for (const AxisSlice& slice : *slices) {
    const Dimension& extent = from[slice.axis];
    decoded.steps[slice.axis] = slice.step;
    if (IsKnown(slice, extent)) {
      const StartAndCount along = SliceOfKnown(slice, extent.extent());
      decoded.starts[slice.axis] = along.start;
      decoded.output[slice.axis] = along.count;
    } else {
      decoded.starts[slice.axis] =
          slice.step > 0 ? Position(view, slice.start, extent) : Dimension();
      decoded.output[slice.axis] = CountOfOpen(view, slice, extent);
    }
  }
  return decoded;
}

absl::StatusOr<PadView> DecodePad(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckPad(view));
  const size_t rank = view.input_type(0).rank();
  PadView pad;
  SLIPWAY_ASSIGN_OR_RETURN(pad.mode, DecodePadMode(view));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, ConstantInts(view, 1, "pads"));
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (view.has_input(3)) {
    SLIPWAY_ASSIGN_OR_RETURN(axes, ConstantInts(view, 3, "axes"));
    SLIPWAY_RETURN_IF_ERROR(NormalizeAxes(view, axes, static_cast<int64_t>(rank)).status());
  }
  SLIPWAY_RETURN_IF_ERROR(CheckNumberOfPads(view, pads.size(), axes.size()));
  pad.begins.assign(rank, 0);
  pad.ends.assign(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    pad.begins[axis] = pads[i];
    pad.ends[axis] = pads[axes.size() + i];
  }
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (size_t d = 0; d < rank; ++d) {
    const int64_t begin = pad.begins[d];
    const int64_t end = pad.ends[d];
    const Dimension from = view.input_type(0).dimension(static_cast<int>(d));
    const bool in_range = begin >= -kMost && begin <= kMost && end >= -kMost && end <= kMost;
    bool fits = in_range;
    if (fits && from.is_known()) {
      const int64_t extent = from.extent();
      const bool cuts_too_much =
          std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0) + extent < 0;
      const bool grows = begin > 0 || end > 0;
      const bool nothing_to_copy =
          (pad.mode == PadView::Mode::kReflect && grows && std::max(begin, end) >= extent) ||
          ((pad.mode == PadView::Mode::kEdge || pad.mode == PadView::Mode::kWrap) && grows &&
           extent == 0);
      fits = !cuts_too_much && !nothing_to_copy;
    }
    if (!fits) {
      return view.Error(absl::StrCat("pads ", begin, " and ", end, " do not fit dimension ", d,
                                     " of ", ToString(from)));
    }
  }
  return pad;
}

absl::StatusOr<PadView::Mode> DecodePadMode(const NodeView& view) {
  const std::string& mode = view.String("mode");
  if (mode == "constant") return PadView::Mode::kConstant;
  if (mode == "reflect") return PadView::Mode::kReflect;
  if (mode == "edge") return PadView::Mode::kEdge;
  if (mode == "wrap") return PadView::Mode::kWrap;
  return view.Error(
      absl::StrCat("\"mode\" is \"", mode, "\", not constant, reflect, edge or wrap"));
}

absl::StatusOr<BlockMoveView> DecodeBlockMove(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 4, 4));
  const Dimensions x = DimensionsOf(view, 0);
  BlockMoveView move;
  move.block = view.Int("blocksize");
  if (move.block < 1 || move.block > (1 << 15)) {
    return view.Error(absl::StrCat("\"blocksize\" is ", move.block));
  }
  const bool depth_to_space = view.op() == "DepthToSpace";
  const bool fits = depth_to_space
                        ? Divides(view, move.block * move.block, x[1])
                        : Divides(view, move.block, x[2]) && Divides(view, move.block, x[3]);
  if (!fits) {
    return view.Error(
        absl::StrCat("blocks of ", move.block, " do not fit the shape ", ToString(x)));
  }
  const std::string& mode = view.String("mode");
  if (mode != "DCR" && mode != "CRD") {
    return view.Error(absl::StrCat("\"mode\" is \"", mode, "\", not DCR or CRD"));
  }
  move.channel_major = mode == "CRD";
  return move;
}

namespace {

Dimensions SliceContents(const NodeView& view) {
  const std::optional<Dimensions> from = view.contents(0);
  if (!from.has_value() || view.input_type(0).rank() != 1) return {};
  const absl::StatusOr<SliceView> slice = DecodeSlice(view);
  if (!slice.ok()) return {};
  Dimensions results;
  if (!slice->starts[0].is_known() || !slice->output[0].is_known()) return {};
  for (int64_t i = 0; i < slice->output[0].extent(); ++i) {
    results.push_back((*from)[slice->starts[0].extent() + i * slice->steps[0]]);
  }
  return results;
}

}  // namespace

absl::Status RegisterMovementOperators(OperatorRegistry& registry) {
  struct Row {
    const char* name;
    int min_inputs;
    int max_inputs;
    int max_outputs;
    std::vector<AttributeSchema> attributes;
    Types (*rule)(const NodeView&);
    Movement movement = Movement::kOther;
    Dimensions (*contents)(const NodeView&) = nullptr;
    LayoutRole role = LayoutRole::kPlain;
  };
  const AttributeSchema axis = Required(IntAttribute("axis", std::nullopt));
  const AttributeSchema blocks = Required(IntAttribute("blocksize", std::nullopt));
  const AttributeSchema block_mode = StringAttribute("mode", "DCR");
  const Row rows[] = {
      {"Transpose", 1, 1, 1, {IntsAttribute("perm")}, TransposeType, Movement::kPermutation},
      {"Concat",
       1,
       kVariadic,
       1,
       {axis},
       ConcatType,
       Movement::kConcat,
       ConcatContents,
       LayoutRole::kConcat},
      {"Split",
       1,
       2,
       kVariadic,
       {IntAttribute("axis", 0), IntAttribute("num_outputs", std::nullopt)},
       SplitType,
       Movement::kSplit,
       nullptr,
       LayoutRole::kSplit},
      {"Slice", 3, 5, 1, {}, SliceType, Movement::kOther, SliceContents, LayoutRole::kSlice},
      {"Gather", 2, 2, 1, {IntAttribute("axis", 0)}, GatherType, Movement::kOther, GatherContents},
      {"Expand", 2, 2, 1, {}, ExpandType, Movement::kOther, ExpandContents},
      {"Pad",
       2,
       4,
       1,
       {StringAttribute("mode", "constant")},
       PadType,
       Movement::kOther,
       nullptr,
       LayoutRole::kPad},
      {"DepthToSpace", 1, 1, 1, {blocks, block_mode}, DepthToSpaceType, Movement::kPermutation},
      {"SpaceToDepth", 1, 1, 1, {blocks, block_mode}, SpaceToDepthType, Movement::kPermutation},
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
    schema.moves_elements = true;
    schema.layout.role = row.role;
    schema.type_rule = row.rule;
    if (row.contents != nullptr) schema.contents_rule = row.contents;
    SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  }
  return absl::OkStatus();
}

}  // namespace slipway
