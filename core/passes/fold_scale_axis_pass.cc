#include "core/passes/fold_scale_axis_pass.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/passes/computed_constant.h"
#include "core/passes/fold_into_producer.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {
namespace {

// One value a channel of a tensor of `type` whose channels are dimension `axis`, from a constant that
// broadcasts to it. Absent when the constant varies along another dimension, or is not f32, and where
// the number of channels is not known.
std::optional<std::vector<double>> PerChannel(const Tensor* constant, const ValueType& type,
                                              int axis) {
  if (constant == nullptr || constant->dtype() != DataType::kFloat32) return std::nullopt;
  const int offset = type.rank() - static_cast<int>(constant->shape().size());
  if (offset < 0 || type.rank() <= axis || !type.dimension(axis).is_known()) return std::nullopt;
  const int64_t channels = type.dimension(axis).extent();
  for (size_t d = 0; d < constant->shape().size(); ++d) {
    const int64_t extent = constant->shape()[d];
    const bool is_channel = static_cast<int>(d) + offset == axis;
    if (extent != 1 && !(is_channel && extent == channels)) return std::nullopt;
  }
  const absl::Span<const float> values = constant->values<float>();
  if (values.empty()) return std::nullopt;
  std::vector<double> per_channel(channels);
  for (int64_t c = 0; c < channels; ++c) per_channel[c] = values[values.size() == 1 ? 0 : c];
  return per_channel;
}

// x op constant as x * scale + shift. Absent where it is not of that form.
std::optional<ChannelAffine> AffineOf(const Node& node, std::vector<double> constant,
                                      bool constant_is_first) {
  ChannelAffine affine;
  affine.scale.assign(constant.size(), 1);
  affine.shift.assign(constant.size(), 0);
  if (node.op == "Mul") {
    affine.scale = std::move(constant);
  } else if (node.op == "Add") {
    affine.shift = std::move(constant);
  } else if (node.op == "Sub") {
    if (constant_is_first) affine.scale.assign(constant.size(), -1);
    for (double& value : constant) value = constant_is_first ? value : -value;
    affine.shift = std::move(constant);
  } else if (node.op == "Div" && !constant_is_first) {
    for (double& value : constant) value = 1 / value;
    affine.scale = std::move(constant);
  } else {
    return std::nullopt;
  }
  return affine;
}

bool FoldBackward(const Node& node, GraphRewriter& rewriter) {
  if (node.inputs.size() != 2 || node.outputs.size() != 1) return false;
  for (const int which : {1, 0}) {
    const ValueId x = node.inputs[1 - which];
    if (rewriter.constant(node.inputs[which]) == nullptr || !CanFoldIntoProducer(rewriter, x)) {
      continue;
    }
    const ValueType& type = rewriter.type(x);
    if (!SameTensors(rewriter.type(node.outputs[0]), type)) continue;
    const std::optional<std::vector<double>> constant =
        PerChannel(rewriter.constant(node.inputs[which]), type, 1);
    if (!constant.has_value()) continue;
    const std::optional<ChannelAffine> affine = AffineOf(node, *constant, which == 0);
    if (!affine.has_value() || !IsFinite(*affine)) continue;
    FoldIntoProducer(rewriter, x, *affine);
    rewriter.Replace(node, x);
    return true;
  }
  return false;
}

// The weights [Co, Ci/g, ...] with each input channel scaled.
Tensor ScaleInputChannels(const Tensor& weights, int64_t group, std::vector<double> scale) {
  const int64_t per_group = weights.shape()[1];
  const int64_t rows_per_group = weights.shape()[0] / group;
  const int64_t inner = weights.num_elements() / (weights.shape()[0] * per_group);
  const auto fill = [=, scale = std::move(scale)](const Tensor& plain, Tensor& scaled) {
    const absl::Span<const float> from = plain.values<float>();
    const absl::Span<float> to = scaled.mutable_values<float>();
    for (int64_t i = 0; i < plain.num_elements(); ++i) {
      const int64_t row = i / inner / per_group;
      const int64_t channel = row / rows_per_group * per_group + i / inner % per_group;
      to[i] = static_cast<float>(from[i] * scale[channel]);
    }
  };
  return ComputedConstant(weights, weights.type(), fill);
}

void FoldForward(Node& conv, GraphRewriter& rewriter) {
  const Node* mul = rewriter.Producer(conv.inputs[0]);
  if (mul == nullptr || mul->op != "Mul" || rewriter.Uses(conv.inputs[0]) != 1) return;
  const Tensor* weights = rewriter.constant(conv.inputs[1]);
  if (weights == nullptr || weights->dtype() != DataType::kFloat32 ||
      weights->num_elements() == 0) {
    return;
  }
  const int64_t* group_attribute = conv.attributes.FindAs<int64_t>("group");
  const int64_t group = group_attribute == nullptr ? 1 : *group_attribute;
  for (const int which : {1, 0}) {
    const ValueId x = mul->inputs[1 - which];
    const ValueType& type = rewriter.type(x);
    if (!SameTensors(type, rewriter.type(conv.inputs[0])) || type.rank() < 3) continue;
    const std::optional<std::vector<double>> scale =
        PerChannel(rewriter.constant(mul->inputs[which]), type, 1);
    if (!scale.has_value() || !IsFinite({*scale, {}})) continue;
    const std::string name = absl::StrCat(rewriter.graph().values[conv.inputs[1]].name, "_scaled");
    rewriter.SetInput(conv, 1,
                      rewriter.Constant(name, ScaleInputChannels(*weights, group, *scale)));
    rewriter.SetInput(conv, 0, x);  // The Mul is dead now.
    return;
  }
}

}  // namespace

absl::StatusOr<Graph> FoldScaleAxis(Graph graph, const PassContext& context) {
  GraphRewriter rewriter(std::move(graph), context.registry);
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    if (node.op == "Conv") FoldForward(node, rewriter);
    if (!FoldBackward(node, rewriter)) rewriter.Keep(std::move(node));
  }
  return std::move(rewriter).Finish();
}

}  // namespace slipway
