#include "core/passes/blocked_movement.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/movement.h"
#include "core/operators/resize.h"
#include "core/passes/canonicalize_rules.h"

namespace slipway {
namespace {

using Ranges = std::vector<std::optional<ChannelRange>>;

constexpr size_t kChannelAxis = 1;
constexpr size_t kFirstPlaceAxis = 2;
constexpr size_t kImageRank = 4;

LayoutRole RoleOf(const Node& node, const OperatorRegistry& registry) {
  return registry.Find(node.op)->layout.role;
}

std::optional<Ranges> SlicedChannels(const NodeView& view, const ValueType& y) {
  const absl::StatusOr<SliceView> slice = DecodeSlice(view);
  if (!slice.ok()) return std::nullopt;
  if (slice->starts[0] != Dimension(0) || slice->steps[0] != 1 || slice->steps[kChannelAxis] != 1 ||
      !SameExtent(view.input_type(0).dimension(0), y.dimension(0))) {
    return std::nullopt;
  }
  for (size_t axis = kChannelAxis; axis < kImageRank; ++axis) {
    if (!slice->starts[axis].is_known() || slice->steps[axis] < 1) return std::nullopt;
  }
  return Ranges{
      ChannelRange{slice->starts[kChannelAxis].extent(), y.dimension(kChannelAxis).extent()}};
}

std::optional<Ranges> SplitChannels(const NodeView& view, const Node& node) {
  const absl::StatusOr<SplitView> split = DecodeSplit(view);
  if (!split.ok() || split->axis != static_cast<int64_t>(kChannelAxis)) return std::nullopt;
  Ranges ranges;
  int64_t begin = 0;
  for (size_t i = 0; i < split->extents.size(); ++i) {
    if (!split->extents[i].is_known()) return std::nullopt;
    const int64_t count = split->extents[i].extent();
    const bool is_there = i < node.outputs.size() && node.outputs[i] != kNoValue;
    ranges.push_back(is_there ? std::optional(ChannelRange{begin, count}) : std::nullopt);
    begin += count;
  }
  return ranges;
}

std::optional<Ranges> AllChannels(const NodeView& view, const ValueType& y) {
  const ValueType& x = view.input_type(0);
  if (!SameExtent(x.dimension(0), y.dimension(0)) ||
      !SameExtent(x.dimension(kChannelAxis), y.dimension(kChannelAxis))) {
    return std::nullopt;
  }
  return Ranges{ChannelRange{0, y.dimension(kChannelAxis).extent()}};
}

// By sizes: what they are its type tells.
bool IsResizedBySizes(const NodeView& view) {
  const absl::StatusOr<ResizeView> resize = DecodeResize(view);
  return resize.ok() && resize->has_sizes && resize->aspect == ResizeView::Aspect::kStretch &&
         resize->coordinates != ResizeView::Coordinates::kCropAndResize;
}

// With a constant.
bool PadsPlacesAlone(const Graph& graph, const Node& node, const NodeView& view) {
  const absl::StatusOr<PadView> pad = DecodePad(view);
  if (!pad.ok()) return false;
  if (view.has_input(2) && !graph.values[node.inputs[2]].constant.has_value()) return false;
  for (size_t axis = 0; axis < kFirstPlaceAxis; ++axis) {
    if (pad->begins[axis] != 0 || pad->ends[axis] != 0) return false;
  }
  return true;
}

// The inputs and attributes of blocked forms while one is added.
struct Form {
  std::string op;
  std::vector<ValueId> inputs;
  Attributes attributes;
};

// A Slice along channels, rows and columns, in elements of a blocked image.
struct Cut {
  Shape starts, ends, steps;
};

Form SliceForm(GraphRewriter& rewriter, ValueId x, const Cut& cut, const std::string& name) {
  const auto constant = [&](absl::string_view what, const Shape& numbers) {
    return ShapeConstant(rewriter, absl::StrCat(name, "_", what), numbers);
  };
  Shape axes(cut.starts.size());
  std::iota(axes.begin(), axes.end(), kChannelAxis);
  return {"Slice",
          {x, constant("starts", cut.starts), constant("ends", cut.ends), constant("axes", axes),
           constant("steps", cut.steps)},
          {}};
}

absl::StatusOr<Cut> CutOf(const NodeView& view, const ValueType& y) {
  SLIPWAY_ASSIGN_OR_RETURN(const SliceView slice, DecodeSlice(view));
  Cut cut;
  for (int axis = kFirstPlaceAxis; axis < static_cast<int>(kImageRank); ++axis) {
    const int64_t start = slice.starts[axis].extent();
    cut.starts.push_back(start);
    cut.ends.push_back(start + (y.dimension(axis).extent() - 1) * slice.steps[axis] + 1);
    cut.steps.push_back(slice.steps[axis]);
  }
  return cut;
}

Form ResizeForm(GraphRewriter& rewriter, const Node& node, ValueId x, const std::string& name) {
  const ValueType& y = rewriter.type(node.outputs[0]);
  Form form = {node.op, {x, kNoValue, kNoValue, kNoValue}, node.attributes};
  form.attributes.Set("axes", std::vector<int64_t>{2, 3});
  form.inputs[3] = ShapeConstant(rewriter, absl::StrCat(name, "_sizes"),
                                 {y.dimension(2).extent(), y.dimension(3).extent()});
  return form;
}

absl::StatusOr<Form> PadForm(GraphRewriter& rewriter, const NodeView& view, const Node& node,
                             ValueId x, const std::string& name) {
  SLIPWAY_ASSIGN_OR_RETURN(const PadView pad, DecodePad(view));
  Shape pads(pad.begins.begin(), pad.begins.end());
  pads.push_back(0);
  pads.insert(pads.end(), pad.ends.begin(), pad.ends.end());
  pads.push_back(0);
  Form form = {
      node.op, {x, ShapeConstant(rewriter, absl::StrCat(name, "_pads"), pads)}, node.attributes};
  if (node.inputs.size() > 2) form.inputs.push_back(node.inputs[2]);
  return form;
}

}  // namespace

std::optional<Ranges> MovedChannels(const Graph& graph, const Node& node,
                                    const OperatorRegistry& registry) {
  const absl::StatusOr<NodeView> view = NodeView::Create(graph, node, registry);
  if (!view.ok()) return std::nullopt;
  const LayoutRole role = RoleOf(node, registry);
  if (role == LayoutRole::kSplit) return SplitChannels(*view, node);
  const ValueType& y = *graph.values[node.outputs[0]].type;
  if (role == LayoutRole::kSlice) return SlicedChannels(*view, y);
  const bool moves_places =
      role == LayoutRole::kResize ? IsResizedBySizes(*view) : PadsPlacesAlone(graph, node, *view);
  return moves_places ? AllChannels(*view, y) : std::nullopt;
}

absl::StatusOr<ValueId> AddBlockedMovement(GraphRewriter& rewriter, const Node& node, size_t output,
                                           const ChannelRange& range, ValueId x, int64_t block,
                                           const OperatorRegistry& registry) {
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(rewriter.graph(), node, registry));
  const std::string name = DisplayName(rewriter.graph(), node);
  Form form;
  switch (RoleOf(node, registry)) {
    case LayoutRole::kResize:
      form = ResizeForm(rewriter, node, x, name);
      break;
    case LayoutRole::kPad: {
      SLIPWAY_ASSIGN_OR_RETURN(form, PadForm(rewriter, view, node, x, name));
      break;
    }
    default: {
      Cut cut;
      if (RoleOf(node, registry) == LayoutRole::kSlice) {
        SLIPWAY_ASSIGN_OR_RETURN(cut, CutOf(view, rewriter.type(node.outputs[output])));
      }
      cut.starts.insert(cut.starts.begin(), range.begin / block);
      cut.ends.insert(cut.ends.begin(), (range.begin + range.count) / block);
      cut.steps.insert(cut.steps.begin(), 1);
      form = SliceForm(rewriter, x, cut, name);
    }
  }
  return rewriter.Add(form.op, std::move(form.inputs), std::move(form.attributes), name);
}

}  // namespace slipway
