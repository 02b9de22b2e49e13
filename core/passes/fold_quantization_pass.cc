#include "core/passes/fold_quantization_pass.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/operators/convolution.h"
#include "core/operators/quantized.h"
#include "core/operators/window.h"
#include "core/passes/canonicalize_rules.h"
#include "core/passes/channel_layout.h"
#include "core/passes/computed_constant.h"
#include "core/passes/graph_rewriter.h"
#include "core/passes/pack_constants.h"
#include "core/passes/quantized_values.h"
#include "core/passes/scale_ahead.h"

namespace slipway {
namespace {

constexpr int64_t kInt16Type = 5;  // As ONNX's attributes number element types.
constexpr int64_t kInt32Type = 6;
constexpr int64_t kFloatType = 1;

Attributes ConvAttributes(int64_t group, const Window& window) {
  return {{"group", group},
          {"kernel_shape", Ints(window.kernel)},
          {"strides", Ints(window.strides)},
          {"dilations", Ints(window.dilations)},
          {"pads", Ints(PadsAttribute(window))}};
}

// A product of integers to be.
struct IntegerProduct {
  ValueId x = kNoValue;  // Of 8 bits.
  LinearCode code;       // x's.
  QuantizedWeights weights;
  Attributes attributes;                    // A convolution's.
  std::optional<IntegerMatrices> matrices;  // Of another one.
};

// What operators of quantized tensors have in common, but for their data.
struct QuantizedOperands {
  size_t weights_at = 0;            // The input;
  const Tensor* weights = nullptr;  // its numbers.
  std::vector<int> x_zeros;         // Empty where they are not known.
  std::vector<int> w_zeros;         // One, or one an output channel.
  std::vector<float> scales;        // The same, of sums.
};

// Whether all data have the same zero point, known or not.
bool HasOneZero(const NodeView& view, const QuantizedOperands& operands) {
  const bool is_one =
      !view.has_input(2) || NumElements(view.input_type(2).dimensions()) == Dimension(1);
  return is_one && operands.x_zeros.size() <= 1;
}

// Whether data are rows that a matrix multiplies, and zero points and scales are of all of them, and of all columns or of each.
bool MayBeMatrices(const NodeView& view, const QuantizedOperands& operands) {
  const ValueType& x = view.input_type(0);
  const Shape& w = operands.weights->shape();
  if (x.rank() < 2 || w.size() != 2 || NumElements(x.dimensions()) == Dimension(0)) return false;
  const auto fits = [&w](size_t count) {
    return count == 1 || static_cast<int64_t>(count) == w[1];
  };
  return !RowsOf(x).is_unknown() && x.dimension(x.rank() - 1) == Dimension(w[0]) &&
         HasOneZero(view, operands) && fits(operands.w_zeros.size()) &&
         (operands.scales.empty() || fits(operands.scales.size()));
}

// Of [K, N] in i16: i32 [N], which wraps around.
Tensor SumsOfColumns(const Tensor& matrix) {
  const int64_t columns = matrix.shape()[1];
  return ComputedConstant(matrix, {DataType::kInt32, {columns}},
                          [columns](const Tensor& from, Tensor& to) {
                            const absl::Span<int32_t> sums = to.mutable_values<int32_t>();
                            for (int64_t i = 0; i < from.num_elements(); ++i) {
                              uint32_t sum = static_cast<uint32_t>(sums[i % columns]);
                              sum += static_cast<uint32_t>(from.values<int16_t>()[i]);
                              sums[i % columns] = static_cast<int32_t>(sum);
                            }
                          });
}

// One number a channel of sums of such a rank: of images [N, Co, H, W], or of matrices [M, columns].
Tensor ByChannel(std::vector<float> values, int rank) {
  Shape shape = {static_cast<int64_t>(values.size())};
  if (rank > 2) shape.insert(shape.end(), static_cast<size_t>(rank - 2), 1);
  return Tensor::Of<float>(std::move(shape), std::move(values));
}

class QuantizationFolding {
 public:
  QuantizationFolding(Graph graph, const PassContext& context)
      : context_(context),
        producers_(Producers(graph)),
        users_(Users(graph)),
        is_output_(OutputFlags(graph)),
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
  absl::StatusOr<bool> RewriteQuantizedConv(const Node& node, const Node& old);
  absl::StatusOr<bool> RewriteQuantizedMatMul(const Node& node, const Node& old);
  // Of ConvInteger or MatMulInteger, or of the same whose sums are scaled, as the node was; absent where weights or scales are not known.
  std::optional<QuantizedOperands> OperandsOf(const Node& node, bool is_linear) const;
  ValueId CentredWeights(const QuantizedOperands& operands, int64_t axis, const Node& node) {
    return rewriter_.Constant(absl::StrCat(NameOf(node.inputs[operands.weights_at]), "_centred"),
                              LessZeros(*operands.weights, axis, operands.w_zeros));
  }
  // The sums of such a node of scaled ones as its result.
  absl::StatusOr<ValueId> Requantized(ValueId sums, const QuantizedOperands& operands,
                                      const Node& node, const std::string& name);
  absl::StatusOr<bool> RewriteQuantize(Node& node, const Node& old);
  absl::StatusOr<bool> RewriteDequantize(Node& node, const Node& old);
  // What a Relu or Clip reads that nothing else reads the result of, where saturating to the code's bounds does all that it does;
  // else `x` itself. `scale` is what x is divided by.
  ValueId Unbounded(ValueId x, float scale, const LinearCode& code);

  // Sums of products as real numbers: each times its channel's scale, or the one of all.
  absl::StatusOr<ValueId> Scaled(ValueId sums, std::vector<float> scales, const std::string& name);
  // Sums of products of x's rows, all but its last dimension, by w: a matrix.
  absl::StatusOr<ValueId> MultipliedRows(ValueId x, ValueId w, const std::string& name);
  // x in the extents of `type`, which have as many elements.
  absl::StatusOr<ValueId> ShownAs(ValueId x, const ValueType& type, const std::string& name);
  // A value of 8 bits less its zero point, in 16 bits.
  absl::StatusOr<ValueId> Centred(ValueId old_id, const LinearCode& code);
  bool IsOnlyDequantized(ValueId old_id, const LinearCode& code) const;
  std::string NameOf(ValueId id) const { return rewriter_.graph().values[id].name; }

  const PassContext& context_;
  // Of the old graph.
  const std::vector<NodeId> producers_;
  const std::vector<std::vector<NodeId>> users_;
  const std::vector<bool> is_output_;
  std::map<std::pair<ValueId, int>, ValueId>
      centred_;               // By value and zero point, once it is there.
  std::vector<bool> wanted_;  // By value: whether a product reads its centred form.
  const Graph old_;
  GraphRewriter rewriter_;
};

std::optional<IntegerProduct> QuantizationFolding::ProductOf(const Node& node) const {
  const bool is_conv = node.op == "Conv";
  if (!is_conv && node.op != "Gemm" && node.op != "MatMul") return std::nullopt;
  const Node* const x = Maker(node.inputs[0]);
  const Node* const w = Maker(node.inputs[1]);
  if (x == nullptr || w == nullptr || x->op != "DequantizeLinear") return std::nullopt;
  const std::optional<LinearCode> code = CodeOf(old_, *x);
  if (!code.has_value()) return std::nullopt;
  std::optional<IntegerMatrices> matrices;
  if (!is_conv) {
    absl::StatusOr<IntegerMatrices> found = IntegerMatricesOf(old_, node, context_.registry);
    if (!found.ok()) return std::nullopt;
    matrices = *std::move(found);
  }
  std::optional<QuantizedWeights> weights =
      WeightsOf(old_, *w, is_conv ? 0 : matrices->column_axis(), context_.registry);
  if (!weights.has_value() || weights->weights.num_elements() == 0) return std::nullopt;
  if (!is_conv) {
    const int64_t largest = std::max(-code->least(), code->largest());
    if (!HoldsSums(matrices->depth, largest, weights->largest)) return std::nullopt;
    if (matrices->is_transposed) weights->weights = Transposed(weights->weights);
    return IntegerProduct{x->inputs[0], *code, *std::move(weights), {}, std::move(matrices)};
  }
  const absl::StatusOr<ConvView> conv = IntegerConvOf(old_, node, context_.registry);
  if (!conv.ok()) return std::nullopt;
  // Those are summed in f32, which is exact for bytes alone.
  if (IsDepthwise(*conv) && weights->largest > 128) return std::nullopt;
  const int64_t terms = weights->weights.num_elements() / weights->weights.shape()[0];
  const int64_t largest = std::max(-code->least(), code->largest());
  if (!HoldsSums(terms, largest, weights->largest)) return std::nullopt;
  IntegerProduct product = {x->inputs[0], *code, *std::move(weights), {}, std::nullopt};
  product.attributes = ConvAttributes(conv->group, conv->window);
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
  const auto [place, is_new] = centred_.try_emplace({old_id, code.zero}, kNoValue);
  ValueId& centred = place->second;
  if (!is_new) return centred;
  const std::string name = absl::StrCat(NameOf(old_id), "_centred");
  SLIPWAY_ASSIGN_OR_RETURN(
      centred, rewriter_.Add("Cast", {rewriter_.Resolve(old_id)}, {{"to", kInt16Type}}, name));
  if (code.zero == 0) return centred;
  const ValueId zero = rewriter_.Constant(absl::StrCat(name, "_zero"),
                                          Tensor::Scalar(static_cast<int16_t>(code.zero)));
  SLIPWAY_ASSIGN_OR_RETURN(centred, rewriter_.Add("Sub", {centred, zero}, {}, name));
  return centred;
}

absl::StatusOr<ValueId> QuantizationFolding::Scaled(ValueId sums, std::vector<float> scales,
                                                    const std::string& name) {
  scales.resize(static_cast<size_t>(rewriter_.type(sums).dimension(1).extent()), scales[0]);
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId real, rewriter_.Add("Cast", {sums}, {{"to", kFloatType}},
                                                             absl::StrCat(name, "_real")));
  const ValueId scale = rewriter_.Constant(
      absl::StrCat(name, "_scale"), ByChannel(std::move(scales), rewriter_.type(sums).rank()));
  return rewriter_.Add("Mul", {real, scale}, {}, absl::StrCat(name, "_scaled"));
}

absl::StatusOr<bool> QuantizationFolding::RewriteProduct(const Node& node, const Node& old) {
  const std::optional<IntegerProduct> product = ProductOf(old);
  if (!product.has_value()) return false;
  const std::string name = DisplayName(rewriter_.graph(), node);
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId x, Centred(product->x, product->code));
  const ValueId w = rewriter_.Constant(absl::StrCat(NameOf(node.inputs[1]), "_centred"),
                                       product->weights.weights);
  ValueId sums = kNoValue;
  if (product->matrices.has_value()) {
    SLIPWAY_ASSIGN_OR_RETURN(sums, MultipliedRows(x, w, name));
  } else {
    SLIPWAY_ASSIGN_OR_RETURN(
        sums, rewriter_.Add("slipway.IntegerConv", {x, w}, product->attributes, name));
  }
  std::vector<float> scales = product->weights.scales;
  for (float& scale : scales) scale *= product->code.scale;
  SLIPWAY_ASSIGN_OR_RETURN(ValueId y, Scaled(sums, std::move(scales), name));
  if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
    const Tensor& bias = product->matrices.has_value() ? *product->matrices->bias
                                                       : *rewriter_.constant(node.inputs[2]);
    const auto numbers = bias.values<float>();
    const ValueId shift = rewriter_.Constant(
        absl::StrCat(name, "_shift"),
        ByChannel(std::vector<float>(numbers.begin(), numbers.end()), rewriter_.type(y).rank()));
    SLIPWAY_ASSIGN_OR_RETURN(y, rewriter_.Add("Add", {y, shift}, {}, absl::StrCat(name, "_out")));
  }
  SLIPWAY_ASSIGN_OR_RETURN(y, ShownAs(y, rewriter_.type(node.outputs[0]), name));
  rewriter_.Replace(node, y);
  return true;
}

absl::StatusOr<ValueId> QuantizationFolding::MultipliedRows(ValueId x, ValueId w,
                                                            const std::string& name) {
  const ValueType data = rewriter_.type(x);
  const ValueType rows(data.dtype(), {RowsOf(data), data.dimension(data.rank() - 1)});
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId matrix, ShownAs(x, rows, name));
  return rewriter_.Add("slipway.IntegerGemm", {matrix, w}, {}, name);
}

absl::StatusOr<ValueId> QuantizationFolding::ShownAs(ValueId x, const ValueType& type,
                                                     const std::string& name) {
  if (SameExtents(rewriter_.type(x).dimensions(), type.dimensions())) return x;
  return AddReshape(rewriter_, x, type.dimensions(), absl::StrCat(name, "_shown"));
}

std::optional<QuantizedOperands> QuantizationFolding::OperandsOf(const Node& node,
                                                                 bool is_linear) const {
  const auto is_there = [&](size_t input) {
    return input < node.inputs.size() && node.inputs[input] != kNoValue;
  };
  const auto constant = [&](size_t input) -> const Tensor* {
    if (!is_there(input)) return nullptr;
    const std::optional<Tensor>& known = old_.values[node.inputs[input]].constant;
    return known.has_value() ? &*known : nullptr;
  };
  const auto zeros_at = [&](size_t input) {
    return is_there(input) ? BytesOf(constant(input)) : std::vector<int>{0};
  };
  QuantizedOperands operands;
  operands.weights_at = is_linear ? 3 : 1;
  operands.weights = constant(operands.weights_at);
  operands.x_zeros = zeros_at(2);
  operands.w_zeros = zeros_at(is_linear ? 5 : 3);
  if (operands.weights == nullptr || operands.weights->num_elements() == 0 ||
      operands.w_zeros.empty()) {
    return std::nullopt;
  }
  if (!is_linear) return operands;
  for (const size_t input : {1, 4, 6}) {
    const bool is_one = input != 4;
    const Tensor* const scale = constant(input);
    if (scale == nullptr || scale->dtype() != DataType::kFloat32 ||
        (is_one && scale->num_elements() != 1)) {
      return std::nullopt;
    }
  }
  const float factor = constant(1)->values<float>()[0] / constant(6)->values<float>()[0];
  for (const float scale : constant(4)->values<float>()) {
    operands.scales.push_back(scale * factor);
    if (!std::isfinite(operands.scales.back())) return std::nullopt;
  }
  return operands;
}

absl::StatusOr<ValueId> QuantizationFolding::Requantized(ValueId sums,
                                                         const QuantizedOperands& operands,
                                                         const Node& node,
                                                         const std::string& name) {
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId y, Scaled(sums, operands.scales, name));
  const Shape scale = rewriter_.constant(node.inputs[6])->shape();
  const ValueId one =
      rewriter_.Constant(absl::StrCat(name, "_one"), Tensor::Of<float>(scale, {1.0f}));
  return rewriter_.Add("QuantizeLinear", {y, one, node.inputs[7]}, {},
                       absl::StrCat(name, "_quantized"));
}

// ConvInteger, and QLinearConv, which scales the sums and quantizes them again.
absl::StatusOr<bool> QuantizationFolding::RewriteQuantizedConv(const Node& node, const Node& old) {
  const bool is_linear = node.op == "QLinearConv";
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(old_, old, context_.registry));
  const std::optional<QuantizedOperands> operands = OperandsOf(old, is_linear);
  if (!operands.has_value() || !HasOneZero(view, *operands) || view.input_type(0).rank() != 4) {
    return false;
  }
  SLIPWAY_ASSIGN_OR_RETURN(const QuantizedConvView conv, DecodeQuantizedConv(view));
  const absl::StatusOr<Window> window = KnownWindow(view, conv.window);
  if (!window.ok()) return false;

  const std::string name = DisplayName(rewriter_.graph(), node);
  const bool is_known = !operands->x_zeros.empty();
  const LinearCode code = {view.input_type(0).dtype(), 1, is_known ? operands->x_zeros[0] : 0};
  SLIPWAY_ASSIGN_OR_RETURN(ValueId x, Centred(old.inputs[0], code));
  if (!is_known) {
    SLIPWAY_ASSIGN_OR_RETURN(
        const ValueId zero,
        rewriter_.Add("Cast", {node.inputs[2]}, {{"to", kInt16Type}}, absl::StrCat(name, "_zero")));
    SLIPWAY_ASSIGN_OR_RETURN(x,
                             rewriter_.Add("Sub", {x, zero}, {}, absl::StrCat(name, "_centred")));
  }
  const ValueId w = CentredWeights(*operands, /*axis=*/0, node);
  SLIPWAY_ASSIGN_OR_RETURN(ValueId y, rewriter_.Add("slipway.IntegerConv", {x, w},
                                                    ConvAttributes(conv.group, *window), name));
  if (is_linear) {
    if (view.has_input(8)) {
      // One a channel, which follow on the batch.
      const ValueId axes =
          rewriter_.Constant(absl::StrCat(name, "_axes"), Tensor::Of<int64_t>({2}, {1, 2}));
      SLIPWAY_ASSIGN_OR_RETURN(
          const ValueId bias,
          rewriter_.Add("Unsqueeze", {node.inputs[8], axes}, {}, absl::StrCat(name, "_bias")));
      SLIPWAY_ASSIGN_OR_RETURN(y, rewriter_.Add("Add", {y, bias}, {}, absl::StrCat(name, "_sums")));
    }
    SLIPWAY_ASSIGN_OR_RETURN(y, Requantized(y, *operands, node, name));
  }
  rewriter_.Replace(node, y);
  return true;
}

// MatMulInteger, and QLinearMatMul, which scales the sums and quantizes them again.
absl::StatusOr<bool> QuantizationFolding::RewriteQuantizedMatMul(const Node& node,
                                                                 const Node& old) {
  const bool is_linear = node.op == "QLinearMatMul";
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(old_, old, context_.registry));
  const std::optional<QuantizedOperands> operands = OperandsOf(old, is_linear);
  if (!operands.has_value() || !MayBeMatrices(view, *operands)) return false;
  const std::string name = DisplayName(rewriter_.graph(), node);
  // A zero point that is not known is subtracted from the sums, times those of the weights.
  const bool is_known = !operands->x_zeros.empty();
  const LinearCode code = {view.input_type(0).dtype(), 1, is_known ? operands->x_zeros[0] : 0};
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId x, Centred(old.inputs[0], code));
  const ValueId w = CentredWeights(*operands, /*axis=*/1, node);
  SLIPWAY_ASSIGN_OR_RETURN(ValueId y, MultipliedRows(x, w, name));
  if (!is_known) {
    const ValueId sums =
        rewriter_.Constant(absl::StrCat(name, "_sums"), SumsOfColumns(*rewriter_.constant(w)));
    SLIPWAY_ASSIGN_OR_RETURN(
        const ValueId zero,
        rewriter_.Add("Cast", {node.inputs[2]}, {{"to", kInt32Type}}, absl::StrCat(name, "_zero")));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId surplus, rewriter_.Add("Mul", {sums, zero}, {},
                                                                  absl::StrCat(name, "_surplus")));
    SLIPWAY_ASSIGN_OR_RETURN(
        y, rewriter_.Add("Sub", {y, surplus}, {}, absl::StrCat(name, "_centred")));
  }
  if (is_linear) {
    SLIPWAY_ASSIGN_OR_RETURN(y, Requantized(y, *operands, node, name));
  }
  SLIPWAY_ASSIGN_OR_RETURN(y, ShownAs(y, rewriter_.type(node.outputs[0]), name));
  rewriter_.Replace(node, y);
  return true;
}

ValueId QuantizationFolding::Unbounded(ValueId x, float scale, const LinearCode& code) {
  while (rewriter_.Uses(x) == 1) {
    const Node* const node = rewriter_.Producer(x);
    if (node == nullptr || (node->op != "Relu" && node->op != "Clip")) return x;
    // Of the quotient, which is rounded only behind.
    float least = node->op == "Relu" ? 0.0f : -std::numeric_limits<float>::infinity();
    float largest = std::numeric_limits<float>::infinity();
    for (size_t i = 1; i < node->inputs.size(); ++i) {
      if (node->inputs[i] == kNoValue) continue;
      const Tensor* const bound = rewriter_.constant(node->inputs[i]);
      if (bound == nullptr || bound->num_elements() != 1) return x;
      (i == 1 ? least : largest) = bound->values<float>()[0] / scale;
    }
    const bool does_nothing = std::nearbyint(least) <= static_cast<float>(code.least()) &&
                              std::nearbyint(largest) >= static_cast<float>(code.largest()) &&
                              least <= largest;
    if (!does_nothing) return x;
    x = node->inputs[0];
  }
  return x;
}

absl::StatusOr<bool> QuantizationFolding::RewriteQuantize(Node& node, const Node& old) {
  const std::optional<LinearCode> code = CodeOf(old_, old);
  if (!code.has_value()) return false;
  const ValueId y = old.outputs[0];
  const std::string name = DisplayName(rewriter_.graph(), node);
  const auto divide_by_one = [&](ValueId quotient) {
    const ValueId one = rewriter_.Constant(absl::StrCat(name, "_one"), Tensor::Scalar(1.0f));
    rewriter_.SetInput(node, 0, quotient);
    rewriter_.SetInput(node, 1, one);
  };
  SLIPWAY_ASSIGN_OR_RETURN(
      const std::optional<ValueId> ahead,
      ScaleAhead(rewriter_, context_.registry, node.inputs[0], 1 / double{code->scale}));
  if (ahead.has_value()) divide_by_one(*ahead);
  const float scale = ahead.has_value() ? 1.0f : code->scale;
  const ValueId unbounded = Unbounded(node.inputs[0], scale, *code);
  if (unbounded != node.inputs[0]) rewriter_.SetInput(node, 0, unbounded);
  const float reciprocal = 1 / scale;
  if (scale != 1 && std::isnormal(reciprocal) && rewriter_.Producer(unbounded) != nullptr) {
    const ValueId factor =
        rewriter_.Constant(absl::StrCat(name, "_factor"), Tensor::Scalar(reciprocal));
    SLIPWAY_ASSIGN_OR_RETURN(
        const ValueId quotient,
        rewriter_.Add("Mul", {unbounded, factor}, {}, absl::StrCat(name, "_quotient")));
    divide_by_one(quotient);
  }
  if (!wanted_[y] || !IsOnlyDequantized(y, *code)) return false;
  ValueId& centred = centred_[{y, code->zero}];
  if (const Node* const pool = PoolBetween(old)) {
    const ValueId stored = Maker(pool->inputs[0])->inputs[0];
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId x, Centred(stored, *code));
    SLIPWAY_ASSIGN_OR_RETURN(
        centred, rewriter_.Add("MaxPool", {x}, pool->attributes, absl::StrCat(name, "_pool")));
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
    SLIPWAY_ASSIGN_OR_RETURN(centred, rewriter_.Add("Clip",
                                                    {whole, bound("least", code->least()),
                                                     bound("largest", code->largest())},
                                                    {}, absl::StrCat(name, "_centred")));
  }
  rewriter_.Release(node);
  return true;
}

absl::StatusOr<bool> QuantizationFolding::RewriteDequantize(Node& node, const Node& old) {
  const std::optional<LinearCode> code = CodeOf(old_, old);
  if (!code.has_value() || !wanted_[old.inputs[0]]) return false;
  if (Maker(old.inputs[0]) == nullptr || CodeOf(old_, *Maker(old.inputs[0])) != code) return false;
  const auto found = centred_.find({old.inputs[0], code->zero});
  if (found == centred_.end()) return false;
  const ValueId x = found->second;
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
  if (node.op == "Conv" || node.op == "Gemm" || node.op == "MatMul") {
    done = RewriteProduct(node, old);
  } else if (node.op == "ConvInteger" || node.op == "QLinearConv") {
    done = RewriteQuantizedConv(node, old);
  } else if (node.op == "MatMulInteger" || node.op == "QLinearMatMul") {
    done = RewriteQuantizedMatMul(node, old);
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
