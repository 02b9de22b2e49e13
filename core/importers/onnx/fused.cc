// Operators that ONNX Runtime's optimizer fuses, taken apart again: activations, products and normalizations.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/importers/onnx/composition.h"

namespace slipway {
namespace {

constexpr char kDomain[] = "com.microsoft.";

// Sum of the inputs that are there.
ValueId Sum(Composition& node, const std::vector<ValueId>& terms) {
  ValueId sum = kNoValue;
  for (const ValueId term : terms) {
    if (term == kNoValue) continue;
    sum = sum == kNoValue ? term : node.Make("Add", {sum, term});
  }
  return sum;
}

// The operator of ONNX with the same name, inputs and attributes.
template <const char* op>
void Same(Composition& node) {
  std::vector<ValueId> inputs;
  for (int i = 0; i < node.num_inputs(); ++i) inputs.push_back(node.input(i));
  node.MakeOutput(0, op, inputs, node.attributes());
}
constexpr char kGelu[] = "Gelu";
constexpr char kPad[] = "Pad";
constexpr char kRange[] = "Range";
constexpr char kTrilu[] = "Trilu";

void BiasGelu(Composition& node) {
  node.MakeOutput(0, "Gelu", {Sum(node, {node.input(0), node.input(1)})});
}

void FastGelu(Composition& node) {
  node.MakeOutput(0, "Gelu", {Sum(node, {node.input(0), node.input(1)})},
                  {{"approximate", std::string("tanh")}});
}

void QuickGelu(Composition& node) {
  node.MakeOutput(0, "Swish", {node.input(0)}, node.attributes());
}

void BiasSplitGelu(Composition& node) {
  const ValueId sum = Sum(node, {node.input(0), node.input(1)});
  const ValueId left = node.NewValue("left");
  const ValueId right = node.NewValue("right");
  node.MakeAll({left, right}, "Split", {sum}, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{2}}});
  node.MakeOutput(0, "Mul", {left, node.Make("Gelu", {right})});
}

void ExpandDims(Composition& node) {
  const ValueId axis =
      node.Make("Cast", {node.input(1)}, {{"to", static_cast<int64_t>(DataType::kInt64)}});
  node.MakeOutput(0, "Unsqueeze", {node.input(0), node.Make("Reshape", {axis, node.Ints({1})})});
}

// Makes output 0: x, through the activation that the node names. `parameters` are those it takes, as far as they are given.
void Activate(Composition& node, ValueId x, const std::vector<float>& parameters) {
  const std::string name = node.has("activation") ? node.String("activation") : "";
  const auto parameter = [&parameters](size_t i, float otherwise) {
    return i < parameters.size() ? parameters[i] : otherwise;
  };
  if (name.empty()) {
    node.MakeOutput(0, "Identity", {x});
  } else if (name == "Relu" || name == "Sigmoid" || name == "Tanh") {
    node.MakeOutput(0, name, {x});
  } else if (name == "LeakyRelu") {
    node.MakeOutput(0, name, {x}, {{"alpha", parameter(0, 0.01f)}});
  } else if (name == "HardSigmoid") {
    node.MakeOutput(0, name, {x}, {{"alpha", parameter(0, 0.2f)}, {"beta", parameter(1, 0.5f)}});
  } else if (name == "Clip" && parameters.size() == 2) {
    node.MakeOutput(0, name,
                    {x, node.FloatLike(parameters[0], x), node.FloatLike(parameters[1], x)});
  } else {
    node.Unsupported(
        absl::StrCat("\"activation\" = \"", name, "\" with ", parameters.size(), " parameters"));
  }
}

std::vector<float> ActivationParameters(const Composition& node) {
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (node.has(name)) parameters.push_back(node.Float(name));
  }
  return parameters;
}

void FusedGemm(Composition& node) {
  const ValueId y = node.Make("Gemm", {node.input(0), node.input(1), node.input(2)},
                              node.Only({"alpha", "beta", "transA", "transB"}));
  Activate(node, y, ActivationParameters(node));
}

void FusedConv(Composition& node) {
  const ValueId y =
      node.Make("Conv", {node.input(0), node.input(1), node.input(2)},
                node.Only({"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}));
  const auto parameters =
      node.has("activation_params") ? node.Floats("activation_params") : std::vector<float>();
  Activate(node, Sum(node, {y, node.input(3)}), parameters);
}

// An operand of a FusedMatMul, transposed: `batch` moves the first dimension behind the other batches.
ValueId Transposed(Composition& node, ValueId x, bool matrix, bool batch) {
  if (!matrix && !batch) return x;
  const int rank = node.RankOf(x);
  if (rank < 0) node.Unsupported("transposing an input whose rank is not known");
  if (rank < 2) return x;
  std::vector<int64_t> order(rank);
  for (int d = 0; d < rank; ++d) order[d] = d;
  if (batch) {
    for (int d = 0; d + 2 < rank; ++d) order[d] = d + 1;
    order[rank - 2] = 0;
  }
  if (matrix) std::swap(order[rank - 2], order[rank - 1]);
  return node.Make("Transpose", {x}, {{"perm", order}});
}

ValueId ScaledProduct(Composition& node) {
  const auto is_set = [&node](const char* name) { return node.has(name) && node.Int(name) != 0; };
  const ValueId a = Transposed(node, node.input(0), is_set("transA"), is_set("transBatchA"));
  const ValueId b = Transposed(node, node.input(1), is_set("transB"), is_set("transBatchB"));
  const ValueId y = node.Make("MatMul", {a, b});
  if (node.Float("alpha") == 1) return y;
  return node.Make("Mul", {y, node.FloatLike(node.Float("alpha"), y)});
}

void FusedMatMul(Composition& node) { node.MakeOutput(0, "Identity", {ScaledProduct(node)}); }
void FusedMatMulActivation(Composition& node) {
  Activate(node, ScaledProduct(node), ActivationParameters(node));
}

// Outputs: y, mean, inverse deviation, the sum.
void SkipLayerNormalization(Composition& node) {
  const ValueId skipped = node.Make("Add", {node.input(0), node.input(1)});
  const ValueId sum = node.has_input(4) ? node.MakeOutput(3, "Add", {skipped, node.input(4)})
                                        : node.MakeOutput(3, "Identity", {skipped});
  node.MakeAll({node.Output(0), node.Output(1), node.Output(2)}, "LayerNormalization",
               {sum, node.input(2), node.input(3)}, node.Only({"epsilon"}));
}

void SimplifiedLayerNormalization(Composition& node) {
  if (node.has_output(1)) return node.Unsupported("the inverse deviation (output 1)");
  node.MakeOutput(0, "RMSNormalization", {node.input(0), node.input(1)}, node.attributes());
}

void SkipSimplifiedLayerNormalization(Composition& node) {
  if (node.has_output(1) || node.has_output(2)) {
    return node.Unsupported("the mean or the inverse deviation (outputs 1 and 2)");
  }
  const ValueId skipped = node.Make("Add", {node.input(0), node.input(1)});
  const ValueId sum = node.has_input(3) ? node.MakeOutput(3, "Add", {skipped, node.input(3)})
                                        : node.MakeOutput(3, "Identity", {skipped});
  node.MakeOutput(0, "RMSNormalization", {sum, node.input(2)}, node.Only({"epsilon"}));
}

// Inputs: ids, segments, the tables of words, positions and segments, gamma, beta, mask, positions.
void EmbedLayerNormalization(Composition& node) {
  if (!node.RequireInputs({2, 3, 5, 6})) return;
  const ValueId ids = node.input(0);
  ValueId positions = kNoValue;
  if (node.has_input(8)) {
    positions = node.Make("Gather", {node.input(3), node.input(8)});
  } else {
    const ValueId length = node.Make("Shape", {ids}, {{"start", int64_t{1}}, {"end", int64_t{2}}});
    positions = node.Make("Slice", {node.input(3), node.Ints({0}), length, node.Ints({0})});
  }
  ValueId sum = node.Make("Add", {node.Make("Gather", {node.input(2), ids}), positions});
  if (node.has_input(1) && node.has_input(4)) {
    sum = node.Make("Add", {sum, node.Make("Gather", {node.input(4), node.input(1)})});
  }
  if (node.has_output(2)) sum = node.MakeOutput(2, "Identity", {sum});
  node.MakeOutput(0, "LayerNormalization", {sum, node.input(5), node.input(6)},
                  node.Only({"epsilon"}));
  if (!node.has_output(1)) return;
  // How many tokens of each sequence there are.
  if (node.has_input(7)) {
    node.MakeOutput(1, "ReduceSum", {node.input(7), node.Ints({1})}, {{"keepdims", int64_t{0}}});
  } else {
    const ValueId batch = node.Make("Shape", {ids}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
    node.MakeOutput(1, "ConstantOfShape", {batch}, {{"value", Tensor::Of<int32_t>({1}, {0})}});
  }
}

}  // namespace

absl::Status AddFusedExpansions(Expansions& expansions) {
  const auto row = [](const char* op, Arity inputs, void (*expand)(Composition&),
                      std::vector<AttributeSchema> attributes = {}, int max_outputs = 1) {
    return ExpansionOf(absl::StrCat(kDomain, op), inputs, expand, std::move(attributes),
                       max_outputs);
  };
  const auto optional_float = [](const char* name) { return FloatAttribute(name, std::nullopt); };
  const std::vector<AttributeSchema> product = {
      FloatAttribute("alpha", 1), IntAttribute("transA", 0), IntAttribute("transB", 0)};
  const auto with = [](std::vector<AttributeSchema> list, std::vector<AttributeSchema> more) {
    list.insert(list.end(), more.begin(), more.end());
    return list;
  };
  const std::vector<AttributeSchema> batches = {IntAttribute("transBatchA", 0),
                                                IntAttribute("transBatchB", 0)};
  const std::vector<AttributeSchema> activation = {
      StringAttribute("activation", std::nullopt), optional_float("activation_alpha"),
      optional_float("activation_beta"), optional_float("activation_gamma")};
  const std::vector<AttributeSchema> epsilon = {FloatAttribute("epsilon", 1e-12f)};
  return AddAll(
      expansions,
      {row("BiasGelu", 2, BiasGelu), row("BiasSplitGelu", 2, BiasSplitGelu),
       row("EmbedLayerNormalization", {1, 9}, EmbedLayerNormalization,
           with(epsilon, {IntAttribute("mask_index_type", 0)}), 3),
       row("ExpandDims", 2, ExpandDims), row("FastGelu", {1, 2}, FastGelu),
       row("FusedConv", {2, 4}, FusedConv,
           {StringAttribute("activation", std::nullopt),
            AttributeSchema{"activation_params", AttributeKind::kFloats},
            StringAttribute("auto_pad", "NOTSET"), IntsAttribute("dilations"),
            IntAttribute("group", 1), IntsAttribute("kernel_shape"), IntsAttribute("pads"),
            IntsAttribute("strides")}),
       row("FusedGemm", {2, 3}, FusedGemm,
           with(with(product, activation), {FloatAttribute("beta", 1)})),
       row("FusedMatMul", 2, FusedMatMul, with(product, batches)),
       row("FusedMatMulActivation", 2, FusedMatMulActivation,
           with(with(product, batches), with(activation, {IntAttribute("activation_axis", 0)}))),
       row("Gelu", 1, Same<kGelu>),
       row("Pad", {2, 3}, Same<kPad>, {StringAttribute("mode", "constant")}),
       row("QuickGelu", 1, QuickGelu, {FloatAttribute("alpha", 1.702f)}),
       row("Range", 3, Same<kRange>),
       row("SkipLayerNormalization", {3, 5}, SkipLayerNormalization, epsilon, 4),
       row("SkipSimplifiedLayerNormalization", {3, 4}, SkipSimplifiedLayerNormalization, epsilon,
           4),
       row("TransposeMatMul", 2, FusedMatMul, product),
       row("Trilu", {1, 2}, Same<kTrilu>, {IntAttribute("upper", 1)}),
       // Written without a domain.
       ExpansionOf("SimplifiedLayerNormalization", 2, SimplifiedLayerNormalization,
                   {IntAttribute("axis", -1), FloatAttribute("epsilon", 1e-5f),
                    IntAttribute("stash_type", 1)},
                   2)});
}

}  // namespace slipway
