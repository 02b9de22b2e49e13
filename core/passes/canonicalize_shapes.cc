// Reshape and what is one in disguise; Softmax's axis; Resize's scales.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/reshaping.h"
#include "core/passes/canonicalize_rules.h"

namespace slipway {

ValueId ShapeConstant(GraphRewriter& rewriter, absl::string_view name, const Shape& shape) {
  return rewriter.Constant(
      name, Tensor::Of<int64_t>({static_cast<int64_t>(shape.size())}, absl::MakeConstSpan(shape)));
}

absl::StatusOr<ValueId> AddReshape(GraphRewriter& rewriter, ValueId x, const Dimensions& shape,
                                   absl::string_view name) {
  if (const std::optional<Shape> known = KnownShape(shape)) {
    const ValueId target = ShapeConstant(rewriter, absl::StrCat(name, "_shape"), *known);
    return rewriter.Add("Reshape", {x, target}, {}, name);
  }
  const DataType dtype = rewriter.type(x).dtype();
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId view,
      rewriter.Add("slipway.View", {x}, {{"rank", static_cast<int64_t>(shape.size())}}, name));
  rewriter.Refine(view, ValueType(dtype, shape));
  return view;
}

namespace {

bool IsReshape(const Node& node) { return node.op == "Reshape" || node.op == "slipway.View"; }

bool AnyUnknown(const Dimensions& dimensions) {
  return std::any_of(dimensions.begin(), dimensions.end(),
                     [](const Dimension& d) { return d.is_unknown(); });
}

// Whether the extents of the node's output follow from those of its first input and of the graph's inputs; else its other
// inputs are what says them when the program runs.
bool FollowsFromTypes(const Node& node, const GraphRewriter& rewriter) {
  std::vector<ValueId> told = rewriter.graph().inputs;
  told.push_back(node.inputs[0]);
  Dimensions extents;
  std::vector<Symbol> symbols;
  for (const ValueId id : told) {
    for (const Dimension& extent : rewriter.type(id).dimensions()) {
      if (extent.is_known() || extent.is_unknown()) continue;
      if (extent.symbol() != nullptr) symbols.push_back({*extent.symbol()});
      extents.push_back(extent);
    }
  }
  const Dimensions shape = rewriter.type(node.outputs[0]).dimensions();
  return std::all_of(shape.begin(), shape.end(), [&](const Dimension& extent) {
    return extent.is_known() ||
           std::find(extents.begin(), extents.end(), extent) != extents.end() ||
           CheckSymbolsKnown(extent.expression(), symbols).ok();
  });
}

}  // namespace

absl::StatusOr<bool> ViewToReshape(Node& node, GraphRewriter& rewriter, const PassContext&) {
  const ValueType type = rewriter.type(node.outputs[0]);
  ValueId x = node.inputs[0];
  if (SameTensors(type, rewriter.type(x))) {
    rewriter.Replace(node, x);
    return true;
  }
  const Dimensions shape = type.dimensions();
  // In Reshape's shape an extent of 0 stands for the input's.
  if (AnyUnknown(shape) || NumElements(shape) == Dimension(0)) return false;
  if (node.inputs.size() > 1 && !FollowsFromTypes(node, rewriter)) return false;
  // A Reshape of a Reshape starts from the first one's input.
  while (const Node* before = rewriter.Producer(x)) {
    if (!IsReshape(*before) || (before->inputs.size() > 1 && !FollowsFromTypes(*before, rewriter)))
      break;
    x = before->inputs[0];
  }
  const std::string name = DisplayName(rewriter.graph(), node);
  if (SameTensors(type, rewriter.type(x))) {
    rewriter.Replace(node, x);
    return true;
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId reshaped, AddReshape(rewriter, x, shape, name));
  rewriter.Replace(node, reshaped);
  return true;
}

namespace {

absl::StatusOr<bool> CanonicalizeSoftmax(Node& node, GraphRewriter& rewriter, const PassContext&) {
  const ValueType before = rewriter.type(node.inputs[0]);
  const int64_t rank = before.rank();
  const int64_t* attribute = node.attributes.FindAs<int64_t>("axis");
  int64_t axis = attribute == nullptr ? -1 : *attribute;
  if (axis < 0) axis += rank;
  node.attributes.Set("axis", axis);
  if (!before.is_static()) return false;
  const TensorType& type = before.tensor();
  const bool trailing_ones =
      axis + 1 < rank && std::all_of(type.shape.begin() + axis + 1, type.shape.end(),
                                     [](int64_t e) { return e == 1; });
  if (!trailing_ones || type.num_elements() == 0) return false;
  const std::string name = DisplayName(rewriter.graph(), node);
  const Shape rows = {type.num_elements() / type.shape[axis], type.shape[axis]};
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId flat,
      AddReshape(rewriter, node.inputs[0], ToDimensions(rows), absl::StrCat(name, "_rows")));
  // Taking every dimension before the axis as one row dimension keeps rows apart.
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId softmax,
                           rewriter.Add(node.op, {flat}, {{"axis", int64_t{1}}}, name));
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId shaped,
      AddReshape(rewriter, softmax, ToDimensions(type.shape), absl::StrCat(name, "_shaped")));
  rewriter.Replace(node, shaped);
  return true;
}

// Scales that make whole extents are the ratios of these: sizes say the same, and are integers.
void TellSizes(Node& node, GraphRewriter& rewriter) {
  const ValueType& before = rewriter.type(node.inputs[0]);
  const ValueType& after = rewriter.type(node.outputs[0]);
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return;
  const std::optional<Tensor>& scales = rewriter.graph().value(node.inputs[2]).constant;
  if (!scales.has_value() || scales->num_elements() == 0) return;
  if (!before.is_static() || !after.is_static()) return;
  const auto* axes = node.attributes.FindAs<std::vector<int64_t>>("axes");
  Shape sizes;
  for (const float scale : scales->values<float>()) {
    const auto i = static_cast<int64_t>(sizes.size());
    int64_t axis = axes == nullptr ? i : (*axes)[i];
    if (axis < 0) axis += before.rank();
    sizes.push_back(after.shape()[axis]);
    if (static_cast<double>(before.shape()[axis]) * scale != static_cast<double>(sizes.back())) {
      return;
    }
  }
  const std::string name = DisplayName(rewriter.graph(), node);
  const ValueId constant = ShapeConstant(rewriter, absl::StrCat(name, "_sizes"), sizes);
  node.inputs = {node.inputs[0], node.inputs[1], kNoValue, constant};
}

absl::StatusOr<bool> CanonicalizeResize(Node& node, GraphRewriter& rewriter, const PassContext&) {
  TellSizes(node, rewriter);
  // Of an image of the same sizes each place is made of itself; not where one is cut out first.
  const bool has_sizes = node.inputs.size() == 4 && node.inputs[3] != kNoValue;
  const auto* coordinates = node.attributes.FindAs<std::string>("coordinate_transformation_mode");
  if (!has_sizes || node.attributes.Find("keep_aspect_ratio_policy") != nullptr ||
      (coordinates != nullptr && *coordinates == "tf_crop_and_resize") ||
      !SameExtents(rewriter.type(node.inputs[0]).dimensions(),
                   rewriter.type(node.outputs[0]).dimensions())) {
    return false;
  }
  rewriter.Replace(node, node.inputs[0]);
  return true;
}

// A view that must not be seen through.
absl::StatusOr<bool> KeepApart(Node&, GraphRewriter&, const PassContext&) { return false; }

// Each number `times` times.
Tensor Repeated(const Tensor& tensor, int64_t times) {
  std::vector<float> numbers;
  for (const float number : tensor.values<float>()) numbers.insert(numbers.end(), times, number);
  const auto count = static_cast<int64_t>(numbers.size());
  return Tensor::Of<float>({count}, std::move(numbers));
}

// PyTorch's exporter writes a normalization of groups of channels as one of images whose channels are the groups.
absl::StatusOr<bool> CanonicalizeInstanceNormalization(Node& node, GraphRewriter& rewriter,
                                                       const PassContext&) {
  const Node* const view = rewriter.Producer(node.inputs[0]);
  if (view == nullptr || !IsReshape(*view)) return false;
  const ValueId x = view->inputs[0];
  const Dimensions from = rewriter.type(x).dimensions();
  const Dimensions to = rewriter.type(node.inputs[0]).dimensions();
  if (from.size() < 3 || to.size() < 3 || !SameExtent(from[0], to[0])) return false;
  int64_t of_from = 1, of_to = 1;  // Elements of an image.
  for (size_t d = 1; d < from.size(); ++d) of_from *= from[d].is_known() ? from[d].extent() : 0;
  for (size_t d = 1; d < to.size(); ++d) of_to *= to[d].is_known() ? to[d].extent() : 0;
  if (of_from != of_to || of_from == 0) return false;
  const int64_t channels = from[1].extent(), groups = to[1].extent();
  if (channels <= groups || channels % groups != 0) return false;
  std::vector<ValueId> inputs = {x};
  const std::string name = DisplayName(rewriter.graph(), node);
  for (const size_t weight : {1, 2}) {
    const Tensor* const by_group = rewriter.constant(node.inputs[weight]);
    if (by_group == nullptr || by_group->dtype() != DataType::kFloat32) return false;
    inputs.push_back(rewriter.Constant(absl::StrCat(name, weight == 1 ? "_scale" : "_bias"),
                                       Repeated(*by_group, channels / groups)));
  }
  Attributes attributes = {{"num_groups", groups}};
  if (const Attribute* const epsilon = node.attributes.Find("epsilon")) {
    attributes.Set("epsilon", *epsilon);
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId normalized,
                           rewriter.Add("GroupNormalization", std::move(inputs),
                                        std::move(attributes), absl::StrCat(name, "_groups")));
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId y, AddReshape(rewriter, normalized, to, name));
  rewriter.Replace(node, y);
  return true;
}

}  // namespace

void AddShapeRules(CanonicalizeRules& rules) {
  rules[kAgainOperator] = KeepApart;
  rules["InstanceNormalization"] = CanonicalizeInstanceNormalization;
  rules["Resize"] = CanonicalizeResize;
  rules["Softmax"] = CanonicalizeSoftmax;
}

}  // namespace slipway
