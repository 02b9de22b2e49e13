#include "core/passes/fold_into_producer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/passes/computed_constant.h"

namespace slipway {
namespace {

constexpr size_t kWeights = 1;
constexpr size_t kBias = 2;

// In Conv's weights [Co, Ci/g, ...] channel c is a row, in canonical Gemm's [K, N] a column.
int ChannelAxis(const Node& producer) { return producer.op == "Gemm" ? 1 : 0; }

bool IsFloatConstant(const GraphRewriter& rewriter, ValueId id) {
  const Tensor* tensor = rewriter.constant(id);
  return tensor != nullptr && tensor->dtype() == DataType::kFloat32;
}

Tensor Scaled(const Tensor& weights, int axis, std::vector<double> scale) {
  int64_t inner = 1;
  for (size_t d = axis + 1; d < weights.shape().size(); ++d) inner *= weights.shape()[d];
  const auto fill = [inner, scale = std::move(scale)](const Tensor& plain, Tensor& scaled) {
    const absl::Span<const float> from = plain.values<float>();
    const absl::Span<float> to = scaled.mutable_values<float>();
    for (size_t i = 0; i < from.size(); ++i) {
      to[i] = static_cast<float>(from[i] * scale[i / inner % scale.size()]);
    }
  };
  return ComputedConstant(weights, weights.type(), fill);
}

}  // namespace

bool IsFinite(const ChannelAffine& affine) {
  const auto finite = [](double value) { return std::isfinite(static_cast<float>(value)); };
  return std::all_of(affine.scale.begin(), affine.scale.end(), finite) &&
         std::all_of(affine.shift.begin(), affine.shift.end(), finite);
}

bool CanFoldIntoProducer(GraphRewriter& rewriter, ValueId x) {
  const Node* producer = rewriter.Producer(x);
  if (producer == nullptr || rewriter.Uses(x) != 1) return false;
  if (producer->op == "Gemm") {
    // As CanonicalizeOps leaves it where the weights are constant.
    if (!producer->attributes.empty()) return false;
  } else if (producer->op != "Conv") {
    return false;
  }
  if (!IsFloatConstant(rewriter, producer->inputs[kWeights])) return false;
  const bool has_bias = producer->inputs.size() > kBias && producer->inputs[kBias] != kNoValue;
  return !has_bias || (IsFloatConstant(rewriter, producer->inputs[kBias]) &&
                       rewriter.constant(producer->inputs[kBias])->num_elements() ==
                           ProducerChannels(rewriter, x));
}

int64_t ProducerChannels(GraphRewriter& rewriter, ValueId x) {
  const Node* producer = rewriter.Producer(x);
  return rewriter.type(producer->inputs[kWeights]).shape()[ChannelAxis(*producer)];
}

void FoldIntoProducer(GraphRewriter& rewriter, ValueId x, const ChannelAffine& affine) {
  Node* producer = rewriter.Producer(x);
  const ValueId weights = producer->inputs[kWeights];
  const ValueId bias = producer->inputs.size() > kBias ? producer->inputs[kBias] : kNoValue;
  const int64_t channels = ProducerChannels(rewriter, x);

  bool scales = false;
  bool shifts = false;
  for (int64_t c = 0; c < channels; ++c) {
    scales |= affine.scale[c] != 1;
    shifts |= affine.shift[c] != 0;
  }
  if (scales) {
    const std::string name = absl::StrCat(rewriter.graph().values[weights].name, "_scaled");
    const Tensor scaled = Scaled(*rewriter.constant(weights), ChannelAxis(*producer), affine.scale);
    rewriter.SetInput(*producer, kWeights, rewriter.Constant(name, scaled));
  }
  if (bias == kNoValue && !shifts) return;
  Tensor new_bias = Tensor::Zeros(DataType::kFloat32, {channels});
  const absl::Span<float> to = new_bias.mutable_values<float>();
  for (int64_t c = 0; c < channels; ++c) {
    const double old = bias == kNoValue ? 0 : rewriter.constant(bias)->values<float>()[c];
    to[c] = static_cast<float>(old * affine.scale[c] + affine.shift[c]);
  }
  const std::string name = absl::StrCat(
      bias == kNoValue ? producer->name : rewriter.graph().values[bias].name, "_shifted");
  rewriter.SetInput(*producer, kBias, rewriter.Constant(name, std::move(new_bias)));
}

}  // namespace slipway
