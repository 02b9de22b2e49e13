// Convolutions and pools: explicit windows and padding.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/convolution.h"
#include "core/operators/pooling.h"
#include "core/passes/canonicalize_rules.h"

namespace slipway {
namespace {

using IntList = std::vector<int64_t>;

// Where ceil_mode lets the last window reach beyond the padding, padding that it just reaches over.
IntList PadsReached(const Window& window) {
  IntList pads = PadsAttribute(window);
  const size_t rank = window.kernel.size();
  for (size_t d = 0; d < rank; ++d) {
    const int64_t reach = (window.kernel[d] - 1) * window.dilations[d] + 1;
    const int64_t spanned = (window.output[d] - 1) * window.strides[d] + reach;
    pads[rank + d] = std::max(pads[rank + d], spanned - window.input[d] - pads[d]);
  }
  return pads;
}

void SetWindow(Node& node, const Window& window) {
  node.attributes.Erase("auto_pad");
  node.attributes.Set("kernel_shape", window.kernel);
  node.attributes.Set("strides", window.strides);
  node.attributes.Set("pads", PadsAttribute(window));
}

// [N, C, L] as [N, C, 1, L].
Dimensions WithUnitHeight(const Dimensions& shape) { return {shape[0], shape[1], 1, shape[2]}; }

// A window over one dimension as one over two, the first of extent 1.
void AddUnitHeight(Node& node) {
  for (const auto& [name, value] :
       {std::pair{"kernel_shape", 1}, {"strides", 1}, {"dilations", 1}}) {
    const auto* list = node.attributes.FindAs<IntList>(name);
    if (list != nullptr) node.attributes.Set(name, Ints({value, list->front()}));
  }
  if (const auto* pads = node.attributes.FindAs<IntList>("pads")) {
    node.attributes.Set("pads", Ints({0, pads->front(), 0, pads->back()}));
  }
}

// Kernels slide over two dimensions; a node with one spatial dimension gets another of extent 1.
// Places, which MaxPool may also make, count in the shape that the node has.
// REQUIRES: the window is explicit.
absl::StatusOr<bool> ReplaceByTwoDimensional(Node& node, GraphRewriter& rewriter) {
  if (node.outputs.size() > 1 && node.outputs[1] != kNoValue) return false;
  const Dimensions output = rewriter.type(node.outputs[0]).dimensions();
  const Dimension elements = NumElements(output);
  if (output.size() != 3 || elements == Dimension(0) || elements.is_unknown()) return false;
  const std::string name = DisplayName(rewriter.graph(), node);
  Node wide = node;
  AddUnitHeight(wide);
  const size_t reshaped_inputs = node.op == "Conv" ? 2 : 1;
  for (size_t i = 0; i < reshaped_inputs; ++i) {
    const ValueId id = node.inputs[i];
    const Dimensions shape = WithUnitHeight(rewriter.type(id).dimensions());
    const std::string wide_name = absl::StrCat(rewriter.graph().values[id].name, "_2d");
    if (const Tensor* constant = rewriter.constant(id)) {
      SLIPWAY_ASSIGN_OR_RETURN(Tensor reshaped, constant->Reshaped(*KnownShape(shape)));
      wide.inputs[i] = rewriter.Constant(wide_name, std::move(reshaped));
    } else {
      SLIPWAY_ASSIGN_OR_RETURN(wide.inputs[i], AddReshape(rewriter, id, shape, wide_name));
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId result,
                           rewriter.Add(wide.op, wide.inputs, wide.attributes, name));
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId flat,
                           AddReshape(rewriter, result, output, absl::StrCat(name, "_1d")));
  rewriter.Replace(node, flat);
  return true;
}

absl::StatusOr<bool> CanonicalizeConv(Node& node, GraphRewriter& rewriter,
                                      const PassContext& context) {
  ConvView conv;
  {
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                             NodeView::Create(rewriter.graph(), node, context.registry));
    absl::StatusOr<ConvView> decoded = DecodeConv(view);
    if (absl::IsUnimplemented(decoded.status()))
      return false;  // Not known well enough to be explicit.
    SLIPWAY_ASSIGN_OR_RETURN(conv, std::move(decoded));
  }
  SetWindow(node, conv.window);
  node.attributes.Set("dilations", conv.window.dilations);
  node.attributes.Set("group", conv.group);
  // An omitted bias is not listed.
  while (node.inputs.size() > 2 && node.inputs.back() == kNoValue) node.inputs.pop_back();
  return ReplaceByTwoDimensional(node, rewriter);
}

// A mean or maximum over all of the spatial dimensions.
absl::StatusOr<bool> ReplaceByReduction(Node& node, GraphRewriter& rewriter, absl::string_view op) {
  Shape axes(rewriter.type(node.inputs[0]).rank() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  const std::string name = DisplayName(rewriter.graph(), node);
  const ValueId over = ShapeConstant(rewriter, absl::StrCat(name, "_axes"), axes);
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId reduced, rewriter.Add(op, {node.inputs[0], over},
                                                               {{"keepdims", int64_t{1}}}, name));
  rewriter.Replace(node, reduced);
  return true;
}

bool IsOpen(const Window& window) {
  return std::find(window.output.begin(), window.output.end(), kOpenExtent) != window.output.end();
}

bool CoversAll(const Window& window) {
  const auto is_zero = [](int64_t pad) { return pad == 0; };
  const auto is_one = [](int64_t extent) { return extent == 1; };
  return window.kernel == window.input &&
         std::all_of(window.pads_begin.begin(), window.pads_begin.end(), is_zero) &&
         std::all_of(window.pads_end.begin(), window.pads_end.end(), is_zero) &&
         std::all_of(window.output.begin(), window.output.end(), is_one);
}

absl::StatusOr<bool> CanonicalizePool(Node& node, GraphRewriter& rewriter,
                                      const PassContext& context) {
  PoolView pool;
  {
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                             NodeView::Create(rewriter.graph(), node, context.registry));
    absl::StatusOr<PoolView> decoded = DecodePool(view);
    if (absl::IsUnimplemented(decoded.status())) return false;
    SLIPWAY_ASSIGN_OR_RETURN(pool, std::move(decoded));
  }
  if (!pool.is_max && CoversAll(pool.window)) {
    return ReplaceByReduction(node, rewriter, "ReduceMean");
  }
  SetWindow(node, pool.window);
  node.attributes.Set("dilations", pool.window.dilations);
  // Elements that ceil_mode adds behind the padding do not count, those of the padding do.
  if (!pool.count_include_pad && !IsOpen(pool.window)) {
    node.attributes.Erase("ceil_mode");
    node.attributes.Set("pads", PadsReached(pool.window));
  }
  return ReplaceByTwoDimensional(node, rewriter);
}

absl::StatusOr<bool> GlobalAverageToMean(Node& node, GraphRewriter& rewriter, const PassContext&) {
  return ReplaceByReduction(node, rewriter, "ReduceMean");
}

absl::StatusOr<bool> GlobalMaxToMax(Node& node, GraphRewriter& rewriter, const PassContext&) {
  return ReplaceByReduction(node, rewriter, "ReduceMax");
}

}  // namespace

void AddWindowRules(CanonicalizeRules& rules) {
  rules["Conv"] = CanonicalizeConv;
  rules["MaxPool"] = CanonicalizePool;
  rules["AveragePool"] = CanonicalizePool;
  rules["GlobalAveragePool"] = GlobalAverageToMean;
  rules["GlobalMaxPool"] = GlobalMaxToMax;
}

}  // namespace slipway
