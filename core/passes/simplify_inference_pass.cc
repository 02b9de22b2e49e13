#include "core/passes/simplify_inference_pass.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/passes/fold_into_producer.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {
namespace {

// Absent when the node's scale, bias, mean or variance are not f32 constants.
std::optional<ChannelAffine> AffineOf(const NodeView& view) {
  for (int i = 1; i <= 4; ++i) {
    if (view.constant(i) == nullptr || view.constant(i)->dtype() != DataType::kFloat32) {
      return std::nullopt;
    }
  }
  const absl::Span<const float> scale = view.constant(1)->values<float>();
  const absl::Span<const float> bias = view.constant(2)->values<float>();
  const absl::Span<const float> mean = view.constant(3)->values<float>();
  const absl::Span<const float> variance = view.constant(4)->values<float>();
  const double epsilon = view.Float("epsilon");
  ChannelAffine affine;
  for (size_t c = 0; c < scale.size(); ++c) {
    affine.scale.push_back(scale[c] / std::sqrt(variance[c] + epsilon));
    affine.shift.push_back(bias[c] - mean[c] * affine.scale.back());
  }
  return affine;
}

// One value a channel, shaped to broadcast over the dimensions behind it.
Tensor PerChannel(const std::vector<double>& values, size_t rank) {
  std::vector<float> floats(values.begin(), values.end());
  Shape shape(rank >= 2 ? rank - 1 : 1, 1);
  shape[0] = static_cast<int64_t>(values.size());
  return Tensor::Of<float>(shape, floats);
}

absl::Status SimplifyBatchNormalization(Node& node, GraphRewriter& rewriter,
                                        const PassContext& context) {
  std::optional<ChannelAffine> affine;
  {
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                             NodeView::Create(rewriter.graph(), node, context.registry));
    if (view.input_type(0).dtype() == DataType::kFloat32) affine = AffineOf(view);
  }
  if (!affine.has_value() || node.outputs.size() != 1) {
    rewriter.Keep(std::move(node));
    return absl::OkStatus();
  }
  const ValueId x = node.inputs[0];
  if (IsFinite(*affine) && CanFoldIntoProducer(rewriter, x) &&
      ProducerChannels(rewriter, x) == static_cast<int64_t>(affine->scale.size())) {
    FoldIntoProducer(rewriter, x, *affine);
    rewriter.Replace(node, x);
    return absl::OkStatus();
  }
  const size_t rank = rewriter.type(x).rank();
  const std::string name = DisplayName(rewriter.graph(), node);
  const ValueId scale =
      rewriter.Constant(absl::StrCat(name, "_scale"), PerChannel(affine->scale, rank));
  const ValueId shift =
      rewriter.Constant(absl::StrCat(name, "_shift"), PerChannel(affine->shift, rank));
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId scaled,
                           rewriter.Add("Mul", {x, scale}, {}, absl::StrCat(name, "_scaled")));
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId shifted,
                           rewriter.Add("Add", {scaled, shift}, {}, absl::StrCat(name, "_out")));
  rewriter.Replace(node, shifted);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Graph> SimplifyInference(Graph graph, const PassContext& context) {
  GraphRewriter rewriter(std::move(graph), context.registry);
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    if (node.op == "BatchNormalization") {
      SLIPWAY_RETURN_IF_ERROR(SimplifyBatchNormalization(node, rewriter, context));
    } else {
      rewriter.Keep(std::move(node));
    }
  }
  return std::move(rewriter).Finish();
}

}  // namespace slipway
