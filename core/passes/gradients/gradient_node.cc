#include "core/passes/gradients/gradient_node.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"

namespace slipway {
namespace {

// Names grow with every gradient of a gradient.
constexpr size_t kMaxNameBytesOfOne = 256;
// A tensor of one number with more elements is expanded.
constexpr int64_t kMaxWrittenElements = 1024;

}  // namespace

GradientNode::GradientNode(Graph& graph, UniqueNames& names, const OperatorRegistry& registry,
                           NodeId node, const std::vector<ValueId>& gradients,
                           const std::vector<bool>& wanted, const BodyGradient& of_body)
    : graph_(graph),
      names_(names),
      registry_(registry),
      node_(node),
      gradients_(gradients),
      wanted_(wanted),
      of_body_(of_body),
      copy_(graph.nodes[node]),
      given_(copy_.inputs.size(), kNoValue),
      asked_(gradients.size(), false) {
  std::vector<const ValueType*> types;
  std::vector<const Tensor*> constants;
  types_.reserve(copy_.inputs.size());
  constants_.reserve(copy_.inputs.size());
  for (const ValueId id : copy_.inputs) {
    types_.push_back(id == kNoValue ? ValueType() : *graph.values[id].type);
    types.push_back(id == kNoValue ? nullptr : &types_.back());
    const bool is_constant = id != kNoValue && graph.values[id].constant.has_value();
    constants_.push_back(is_constant ? *graph.values[id].constant : Tensor());
    constants.push_back(is_constant ? &constants_.back() : nullptr);
  }
  auto view = NodeView::Create(copy_, registry, DisplayName(graph, copy_), types, constants);
  SLIPWAY_CHECK(view.ok(), "the graph was verified");
  view_ = *std::move(view);
}

ValueId GradientNode::y(int output) {
  Node& node = graph_.nodes[node_];
  if (output < static_cast<int>(node.outputs.size()) && node.outputs[output] != kNoValue) {
    return node.outputs[output];
  }
  if (!status_.ok()) return kNoValue;
  node.outputs.resize(std::max<size_t>(node.outputs.size(), output + 1), kNoValue);
  const ValueId made =
      graph_.AddValue(names_.Make(absl::StrCat(view_->display_name(), "_", output)));
  graph_.nodes[node_].outputs[output] = made;
  auto types = InferNodeTypes(graph_, graph_.nodes[node_], registry_);
  if (types.ok()) {
    graph_.values[made].type = (*types)[output];
  } else {
    status_ = types.status();
  }
  return made;
}

ValueId GradientNode::dy(int output) {
  if (flows(output)) {
    asked_[output] = true;
    return gradients_[output];
  }
  return Filled(shape(y(output)), 0);
}

ValueId GradientNode::Op(absl::string_view op, std::vector<ValueId> inputs, Attributes attributes) {
  return OpWith(1, op, std::move(inputs), std::move(attributes))[0];
}

std::vector<ValueId> GradientNode::OpWith(int count, absl::string_view op,
                                          std::vector<ValueId> inputs, Attributes attributes) {
  const std::vector<ValueId> none(count, kNoValue);
  if (!status_.ok()) return none;
  Node node{"", std::string(op), std::move(inputs), {}, std::move(attributes)};
  const std::string name =
      absl::StrCat(Utf8Prefix(view_->display_name(), kMaxNameBytesOfOne), "_d");
  for (int i = 0; i < count; ++i) node.outputs.push_back(graph_.AddValue(names_.Make(name)));
  const auto types = InferNodeTypes(graph_, node, registry_);
  if (!types.ok()) {
    status_ = Annotate(types.status(), absl::StrCat("the gradient of ", view_->op()));
    return none;
  }
  for (int i = 0; i < count; ++i) graph_.values[node.outputs[i]].type = (*types)[i];
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs;
}

Graph GradientNode::Back(const Graph& body, const std::vector<bool>& flows,
                         const std::vector<bool>& wanted) {
  if (!status_.ok()) return {};
  auto back = of_body_(body, flows, wanted);
  if (back.ok()) return *std::move(back);
  status_ = Annotate(back.status(), absl::StrCat("body \"", body.name, "\""));
  return {};
}

ValueId GradientNode::Ints(const std::vector<int64_t>& values) {
  return graph_.AddConstant(names_.Make("ints"),
                            Tensor::Of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

ValueId GradientNode::Number(double value) { return Filled({}, value); }

ValueId GradientNode::Filled(DataType dtype, const Shape& shape, double value) {
  const std::vector<int64_t> extents(shape.begin(), shape.end());
  const int64_t count = NumElements(shape);
  if (count > kMaxWrittenElements) return ExpandTo(Filled(dtype, {}, value), shape);
  if (dtype == DataType::kFloat32) {
    const std::vector<float> values(static_cast<size_t>(count), static_cast<float>(value));
    return graph_.AddConstant(names_.Make("number"), Tensor::Of<float>(extents, values));
  }
  const std::vector<double> values(static_cast<size_t>(count), value);
  const ValueId number =
      graph_.AddConstant(names_.Make("number"), Tensor::Of<double>(extents, values));
  if (dtype == DataType::kFloat64) return number;
  return Op("Cast", {number}, {{"to", static_cast<int64_t>(dtype)}});
}

ValueId GradientNode::ReshapeTo(ValueId value, const Shape& to) {
  if (!status_.ok() || shape(value) == to) return value;
  return Op("Reshape", {value, Ints({to.begin(), to.end()})}, {{"allowzero", int64_t{1}}});
}

ValueId GradientNode::ExpandTo(ValueId value, const Shape& to) {
  if (!status_.ok() || shape(value) == to) return value;
  return Op("Expand", {value, Ints({to.begin(), to.end()})});
}

ValueId GradientNode::TransposeBy(ValueId value, const std::vector<int64_t>& perm) {
  return Op("Transpose", {value}, {{"perm", perm}});
}

ValueId GradientNode::Reduce(absl::string_view op, ValueId value, const std::vector<int64_t>& axes,
                             bool keep_dims) {
  if (axes.empty()) return value;
  return Op(op, {value, Ints(axes)}, {{"keepdims", int64_t{keep_dims}}});
}

ValueId GradientNode::Mask(ValueId truth) {
  return Op("Cast", {truth}, {{"to", static_cast<int64_t>(types_[0].dtype())}});
}

ValueId GradientNode::SumTo(ValueId value, const Shape& to) {
  const Shape from = shape(value);
  const int64_t added = static_cast<int64_t>(from.size()) - static_cast<int64_t>(to.size());
  std::vector<int64_t> axes;
  Shape kept;
  for (int64_t d = 0; d < static_cast<int64_t>(from.size()); ++d) {
    const bool summed = d < added || (to[d - added] == 1 && from[d] != 1);
    if (summed) axes.push_back(d);
    if (d >= added) kept.push_back(summed ? 1 : from[d]);
  }
  return ReshapeTo(Reduce("ReduceSum", value, axes), kept);
}

void GradientNode::Give(int input, ValueId gradient) {
  if (!status_.ok() || !wants(input)) return;
  const Shape to = types_[input].shape();
  given_[input] = ExpandTo(SumTo(gradient, to), to);
}

absl::Status GradientNode::CheckAllAsked() const {
  for (size_t i = 0; i < asked_.size(); ++i) {
    if (asked_[i] || !flows(static_cast<int>(i))) continue;
    return view_->Unimplemented(absl::StrCat("no gradient: that of output ", i));
  }
  return absl::OkStatus();
}

void GradientNode::Lack(absl::string_view what) {
  if (status_.ok()) status_ = view_->Unimplemented(absl::StrCat("no gradient: ", what));
}

}  // namespace slipway
