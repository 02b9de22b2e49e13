#include "core/passes/fold_quantization_pass.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/operators/convolution.h"
#include "core/operators/window.h"
#include "core/passes/channel_layout.h"
#include "core/passes/graph_rewriter.h"
#include "core/passes/quantized_values.h"
#include "core/passes/scale_ahead.h"

namespace slipway {
namespace {

constexpr int64_t kInt16Type = 5;  // As ONNX's attributes number element types.
constexpr int64_t kFloatType = 1;

// A convolution of integers to be.
struct IntegerProduct {
  ValueId x = kNoValue;  // Of 8 bits.
  LinearCode code;       // x's.
  QuantizedWeights weights;
  Attributes attributes;
};

class QuantizationFolding {
 public:
  QuantizationFolding(Graph graph, const PassContext& context)
      : context_(context),
        producers_(Producers(graph)),
        users_(Users(graph)),
        is_output_(OutputFlags(graph)),
        centred_(graph.values.size(), kNoValue),
        wanted_(graph.values.size(), false),
        old_(graph),
        rewriter_(std::move(graph), context.registry) {}

  absl::StatusOr<Graph> Run();

 private:
  const Node* Maker(ValueId id) const {
    return id == kNoValue || producers_[id] == kNoNode ? nullptr : &old_.nodes[producers_[id]];
  }
  std::optional<IntegerProduct> ProductOf(const Node& node) const;
  // What a QuantizeLinear reads where that is a MaxPool of tensors with its own code: the pool's node.
  const Node* PoolBetween(const Node& quantize) const;
  void FindWanted();

  absl::Status Rewrite(Node& node);
  // Each is given the node as it was, too, and returns false where it is kept.
  absl::StatusOr<bool> RewriteProduct(const Node& node, const Node& old);
  absl::StatusOr<bool> RewriteQuantize(Node& node, const Node& old);
  absl::StatusOr<bool> RewriteDequantize(Node& node, const Node& old);

  // A value of 8 bits less its zero point, in 16 bits.
  absl::StatusOr<ValueId> Centred(ValueId old_id, const LinearCode& code);
  bool IsOnlyDequantized(ValueId old_id, const LinearCode& code) const;
  std::string NameOf(ValueId id) const { return rewriter_.graph().values[id].name; }

  const PassContext& context_;
  // Of the old graph.
  const std::vector<NodeId> producers_;
  const std::vector<std::vector<NodeId>> users_;
  const std::vector<bool> is_output_;
  std::vector<ValueId> centred_;  // By value: its centred form, once it is there.
  std::vector<bool> wanted_;      // By value: whether a product reads its centred form.
  const Graph old_;
  GraphRewriter rewriter_;
};

std::optional<IntegerProduct> QuantizationFolding::ProductOf(const Node& node) const {
  if (node.op != "Conv") return std::nullopt;
  const Node* const x = Maker(node.inputs[0]);
  const Node* const w = Maker(node.inputs[1]);
  if (x == nullptr || w == nullptr || x->op != "DequantizeLinear") return std::nullopt;
  const std::optional<LinearCode> code = CodeOf(old_, *x);
  if (!code.has_value()) return std::nullopt;
  if (node.inputs.size() > 2 && node.inputs[2] != kNoValue &&
      !old_.values[node.inputs[2]].constant.has_value()) {
    return std::nullopt;
  }
  const absl::StatusOr<NodeView> view = NodeView::Create(old_, node, context_.registry);
  if (!view.ok() || view->input_type(0).rank() != 4) return std::nullopt;
  const absl::StatusOr<ConvView> conv = DecodeConv(*view);
  if (!conv.ok() || IsDepthwise(*conv)) return std::nullopt;
  std::optional<QuantizedWeights> weights = WeightsOf(old_, *w, context_.registry);
  if (!weights.has_value() || weights->weights.num_elements() == 0) return std::nullopt;
  const int64_t terms = weights->weights.num_elements() / weights->weights.shape()[0];
  const int64_t largest = std::max(-code->least(), code->largest());
  if (terms * largest * weights->largest > std::numeric_limits<int32_t>::max()) return std::nullopt;
  IntegerProduct product = {x->inputs[0], *code, *std::move(weights), {}};
  product.attributes = {{"group", conv->group},
                        {"kernel_shape", Ints(conv->window.kernel)},
                        {"strides", Ints(conv->window.strides)},
                        {"dilations", Ints(conv->window.dilations)},
                        {"pads", Ints(PadsAttribute(conv->window))}};
  return product;
}

const Node* QuantizationFolding::PoolBetween(const Node& quantize) const {
  const Node* const pool = Maker(quantize.inputs[0]);
  if (pool == nullptr || pool->op != "MaxPool" || pool->outputs.size() != 1) return nullptr;
  const Node* const dequantize = Maker(pool->inputs[0]);
  if (dequantize == nullptr || dequantize->op != "DequantizeLinear") return nullptr;
  const std::optional<LinearCode> code = CodeOf(old_, quantize);
  return code.has_value() && CodeOf(old_, *dequantize) == code ? pool : nullptr;
}

void QuantizationFolding::FindWanted() {
  for (size_t n = old_.nodes.size(); n-- > 0;) {
    const Node& node = old_.nodes[n];
    if (const std::optional<IntegerProduct> product = ProductOf(node)) wanted_[product->x] = true;
    if (node.op != "QuantizeLinear" || !wanted_[node.outputs[0]]) continue;
    if (const Node* const pool = PoolBetween(node))
      wanted_[Maker(pool->inputs[0])->inputs[0]] = true;
  }
}

bool QuantizationFolding::IsOnlyDequantized(ValueId old_id, const LinearCode& code) const {
  return !is_output_[old_id] && absl::c_all_of(users_[old_id], [&](NodeId user) {
    const Node& node = old_.nodes[user];
    return node.op == "DequantizeLinear" && CodeOf(old_, node) == code;
  });
}

absl::StatusOr<ValueId> QuantizationFolding::Centred(ValueId old_id, const LinearCode& code) {
  ValueId& centred = centred_[old_id];
  if (centred != kNoValue) return centred;
  const std::string name = absl::StrCat(NameOf(old_id), "_centred");
  SLIPWAY_ASSIGN_OR_RETURN(
      centred, rewriter_.Add("Cast", {rewriter_.Resolve(old_id)}, {{"to", kInt16Type}}, name));
  if (code.zero == 0) return centred;
  const ValueId zero = rewriter_.Constant(absl::StrCat(name, "_zero"),
                                          Tensor::Scalar(static_cast<int16_t>(code.zero)));
  SLIPWAY_ASSIGN_OR_RETURN(centred, rewriter_.Add("Sub", {centred, zero}, {}, name));
  return centred;
}

// [Co] as it is broadcast over images.
Tensor ByChannel(const std::vector<float>& values) {
  return Tensor::Of<float>({static_cast<int64_t>(values.size()), 1, 1}, values);
}

absl::StatusOr<bool> QuantizationFolding::RewriteProduct(const Node& node, const Node& old) {
  const std::optional<IntegerProduct> product = ProductOf(old);
  if (!product.has_value()) return false;
  const std::string name = DisplayName(rewriter_.graph(), node);
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId x, Centred(product->x, product->code));
  const ValueId w = rewriter_.Constant(absl::StrCat(NameOf(node.inputs[1]), "_centred"),
                                       product->weights.weights);
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId sums,
                           rewriter_.Add("slipway.IntegerConv", {x, w}, product->attributes, name));
  const size_t channels = static_cast<size_t>(product->weights.weights.shape()[0]);
  std::vector<float> scales = product->weights.scales;
  scales.resize(channels, scales[0]);
  for (float& scale : scales) scale *= product->code.scale;
  SLIPWAY_ASSIGN_OR_RETURN(
      ValueId y, rewriter_.Add("Cast", {sums}, {{"to", kFloatType}}, absl::StrCat(name, "_real")));
  const ValueId scale = rewriter_.Constant(absl::StrCat(name, "_scale"), ByChannel(scales));
  SLIPWAY_ASSIGN_OR_RETURN(y, rewriter_.Add("Mul", {y, scale}, {}, absl::StrCat(name, "_scaled")));
  if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
    const auto bias = rewriter_.constant(node.inputs[2])->values<float>();
    const ValueId shift = rewriter_.Constant(
        absl::StrCat(name, "_shift"), ByChannel(std::vector<float>(bias.begin(), bias.end())));
    SLIPWAY_ASSIGN_OR_RETURN(y, rewriter_.Add("Add", {y, shift}, {}, absl::StrCat(name, "_out")));
  }
  rewriter_.Replace(node, y);
  return true;
}

absl::StatusOr<bool> QuantizationFolding::RewriteQuantize(Node& node, const Node& old) {
  const std::optional<LinearCode> code = CodeOf(old_, old);
  if (!code.has_value()) return false;
  const ValueId y = old.outputs[0];
  const std::string name = DisplayName(rewriter_.graph(), node);
  SLIPWAY_ASSIGN_OR_RETURN(const std::optional<ValueId> ahead,
                           ScaleAhead(rewriter_, node.inputs[0], 1 / double{code->scale}));
  if (ahead.has_value()) {
    const ValueId one = rewriter_.Constant(absl::StrCat(name, "_one"), Tensor::Scalar(1.0f));
    rewriter_.SetInput(node, 0, *ahead);
    rewriter_.SetInput(node, 1, one);
  }
  if (!wanted_[y] || !IsOnlyDequantized(y, *code)) return false;
  if (const Node* const pool = PoolBetween(old)) {
    const ValueId stored = Maker(pool->inputs[0])->inputs[0];
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId x, Centred(stored, *code));
    SLIPWAY_ASSIGN_OR_RETURN(
        centred_[y], rewriter_.Add("MaxPool", {x}, pool->attributes, absl::StrCat(name, "_pool")));
  } else {
    // Saturated to the numbers that 8 bits hold, around the zero point.
    const auto bound = [&](absl::string_view what, int number) {
      return rewriter_.Constant(absl::StrCat(name, "_", what),
                                Tensor::Scalar(static_cast<int16_t>(number)));
    };
    SLIPWAY_ASSIGN_OR_RETURN(
        const ValueId whole,
        rewriter_.Add("QuantizeLinear", {node.inputs[0], node.inputs[1], bound("zero", 0)}, {},
                      absl::StrCat(name, "_whole")));
    SLIPWAY_ASSIGN_OR_RETURN(centred_[y], rewriter_.Add("Clip",
                                                        {whole, bound("least", code->least()),
                                                         bound("largest", code->largest())},
                                                        {}, absl::StrCat(name, "_centred")));
  }
  rewriter_.Release(node);
  return true;
}

absl::StatusOr<bool> QuantizationFolding::RewriteDequantize(Node& node, const Node& old) {
  const ValueId x = centred_[old.inputs[0]];
  const std::optional<LinearCode> code = CodeOf(old_, old);
  if (x == kNoValue || !code.has_value()) return false;
  if (Maker(old.inputs[0]) == nullptr || CodeOf(old_, *Maker(old.inputs[0])) != code) return false;
  const ValueId scale = rewriter_.Constant(
      absl::StrCat(DisplayName(rewriter_.graph(), node), "_scale"), Tensor::Scalar(code->scale));
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId y, rewriter_.Add("DequantizeLinear", {x, scale}, {},
                                     absl::StrCat(DisplayName(rewriter_.graph(), node), "_real")));
  rewriter_.Replace(node, y);
  return true;
}

absl::Status QuantizationFolding::Rewrite(Node& node) {
  const Node old = node;
  rewriter_.Resolve(node);
  absl::StatusOr<bool> done = false;
  if (node.op == "Conv") {
    done = RewriteProduct(node, old);
  } else if (node.op == "QuantizeLinear") {
    done = RewriteQuantize(node, old);
  } else if (node.op == "DequantizeLinear") {
    done = RewriteDequantize(node, old);
  }
  SLIPWAY_RETURN_IF_ERROR(done.status());
  if (!*done) rewriter_.Keep(std::move(node));
  return absl::OkStatus();
}

absl::StatusOr<Graph> QuantizationFolding::Run() {
  FindWanted();
  for (Node& node : rewriter_.TakeNodes()) SLIPWAY_RETURN_IF_ERROR(Rewrite(node));
  return std::move(rewriter_).Finish();
}

}  // namespace

absl::StatusOr<Graph> FoldQuantization(Graph graph, const PassContext& context) {
  return QuantizationFolding(std::move(graph), context).Run();
}

}  // namespace slipway
