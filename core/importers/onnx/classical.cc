// Operators of ai.onnx.ml that are compositions: linear models and what scales features.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/importers/onnx/composition.h"
#include "core/tensor/strings.h"

namespace slipway {
namespace {

constexpr char kDomain[] = "ai.onnx.ml.";
constexpr auto kFloat32 = static_cast<int64_t>(DataType::kFloat32);

AttributeSchema FloatsAttribute(const char* name) {
  return AttributeSchema{name, AttributeKind::kFloats};
}

ValueId AsFloat(Composition& node, ValueId x) {
  if (node.IsOfType(x, DataType::kFloat32)) return x;
  return node.Make("Cast", {x}, {{"to", kFloat32}});
}

ValueId List(Composition& node, const std::vector<float>& values, std::vector<int64_t> shape) {
  return node.Constant(Tensor::Of<float>(shape, values));
}

// One number for all features of x, or one for each.
ValueId PerFeature(Composition& node, absl::string_view attribute) {
  const std::vector<float>& values = node.Floats(attribute);
  const auto count = static_cast<int64_t>(values.size());
  const ValueType* x = node.type(node.input(0));
  const bool fits =
      x == nullptr || (x->rank() > 0 && !Contradict(x->dimension(x->rank() - 1), count));
  if (count != 1 && !fits) {
    node.Fail(absl::StrCat("\"", attribute, "\" has ", count, " entries for x of shape ",
                           ToString(x->dimensions())));
  }
  return List(node, values, {count});
}

void Scaler(Composition& node) {
  ValueId y = AsFloat(node, node.input(0));
  if (node.has("offset")) y = node.Make("Sub", {y, PerFeature(node, "offset")});
  const ValueId scale = node.has("scale") ? PerFeature(node, "scale") : node.Float(1);
  node.MakeOutput(0, "Mul", {y, scale});
}

void Binarizer(Composition& node) {
  const ValueId x = node.input(0);
  const ValueId above = node.Make("Greater", {x, node.FloatLike(node.Float("threshold"), x)});
  node.MakeOutput(0, "CastLike", {above, x});
}

void FeatureVectorizer(Composition& node) {
  std::vector<ValueId> columns;
  for (int i = 0; node.has_input(i); ++i) {
    const ValueId x = node.input(i);
    if (node.RankOf(x) != 2) return node.Unsupported("an input of another rank than 2");
    const Dimension width = node.type(x)->dimension(1);
    const auto dimensions =
        node.has("inputdimensions") ? node.Ints("inputdimensions") : std::vector<int64_t>();
    if (i < static_cast<int>(dimensions.size()) && Contradict(width, dimensions[i])) {
      return node.Unsupported(absl::StrCat("input ", i, " with ", ToString(width),
                                           " features where \"inputdimensions\" holds ",
                                           dimensions[i]));
    }
    columns.push_back(AsFloat(node, x));
  }
  node.MakeOutput(0, "Concat", columns, {{"axis", int64_t{1}}});
}

// x W^T + b, [rows, outputs]. kNoValue where the attributes do not fit each other.
ValueId Linear(Composition& node, int64_t outputs) {
  const std::vector<float> none;
  const std::vector<float>& weights = node.has("coefficients") ? node.Floats("coefficients") : none;
  const std::vector<float>& bias = node.has("intercepts") ? node.Floats("intercepts") : none;
  const auto count = static_cast<int64_t>(weights.size());
  if (outputs < 1 || count < outputs || count % outputs != 0 ||
      (!bias.empty() && static_cast<int64_t>(bias.size()) != outputs)) {
    node.Fail(absl::StrCat(count, " coefficients and ", bias.size(), " intercepts do not fit ",
                           outputs, " results"));
    return kNoValue;
  }
  const int64_t features = count / outputs;
  ValueId x = AsFloat(node, node.input(0));
  if (node.RankOf(x) == 1) x = node.Make("Reshape", {x, node.Ints({1, -1})});
  std::vector<ValueId> inputs = {x, List(node, weights, {outputs, features})};
  if (!bias.empty()) inputs.push_back(List(node, bias, {outputs}));
  return node.Make("Gemm", inputs, {{"transB", int64_t{1}}});
}

// The operator that a "post_transform" is; "" for none.
std::string TransformOf(Composition& node) {
  const std::string& name = node.String("post_transform");
  if (name == "NONE") return "Identity";
  if (name == "LOGISTIC") return "Sigmoid";
  if (name == "SOFTMAX") return "Softmax";
  node.Unsupported(absl::StrCat("\"post_transform\" = \"", name, "\""));
  return "Identity";
}

void LinearRegressor(Composition& node) {
  node.MakeOutput(0, TransformOf(node), {Linear(node, node.Int("targets"))});
}

// The labels with these numbers. An error where there are none.
ValueId Labels(Composition& node) {
  if (node.has("classlabels_ints")) return node.Ints(node.Ints("classlabels_ints"));
  if (!node.has("classlabels_strings")) {
    node.Fail("neither \"classlabels_ints\" nor \"classlabels_strings\" is given");
    return kNoValue;
  }
  const std::vector<std::string>& labels = node.Strings("classlabels_strings");
  return node.Constant(Strings({static_cast<int64_t>(labels.size())}, labels));
}

// One score for two classes is the second one's.
void BinaryClassifier(Composition& node, ValueId labels) {
  const ValueId score = Linear(node, 1);
  if (node.has_output(0)) {
    const ValueId flat = node.Make("Reshape", {score, node.Ints({-1})});
    const ValueId positive = node.Make("Greater", {flat, node.Float(0)});
    const ValueId best = node.Make("Where", {positive, node.Int(1), node.Int(0)});
    node.MakeOutput(0, "Gather", {labels, best});
  }
  if (!node.has_output(1)) return;
  const bool logistic = TransformOf(node) == "Sigmoid";
  const ValueId second = logistic ? node.Make("Sigmoid", {score}) : score;
  const ValueId first = logistic ? node.Make("Sigmoid", {node.Make("Neg", {score})})
                                 : node.Make("Sub", {node.Float(1), score});
  node.MakeOutput(1, "Concat", {first, second}, {{"axis", int64_t{1}}});
}

void LinearClassifier(Composition& node) {
  const ValueId labels = Labels(node);
  if (labels == kNoValue) return;
  const auto classes = node.constant(labels)->num_elements();
  const auto outputs =
      node.has("intercepts") ? static_cast<int64_t>(node.Floats("intercepts").size()) : classes;
  if (classes == 2 && outputs == 1) return BinaryClassifier(node, labels);
  const ValueId scores = Linear(node, classes);
  if (node.has_output(0)) {
    const ValueId best =
        node.Make("ArgMax", {scores}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
    node.MakeOutput(0, "Gather", {labels, best});
  }
  if (node.has_output(1)) node.MakeOutput(1, TransformOf(node), {scores});
}

// A list of maps, from each label to a number, has no form here: it stays the tensor of the numbers, whose columns are the
// labels in their order.
void ZipMap(Composition& node) { node.MakeOutput(0, "Identity", {node.input(0)}); }

}  // namespace

absl::Status AddClassicalExpansions(Expansions& expansions) {
  const auto row = [](const char* op, Arity inputs, void (*expand)(Composition&),
                      std::vector<AttributeSchema> attributes, int max_outputs = 1) {
    return ExpansionOf(absl::StrCat(kDomain, op), inputs, expand, std::move(attributes),
                       max_outputs);
  };
  return AddAll(expansions,
                {row("Binarizer", 1, Binarizer, {FloatAttribute("threshold", 0)}),
                 row("FeatureVectorizer", {1, kVariadic}, FeatureVectorizer,
                     {IntsAttribute("inputdimensions")}),
                 row("LinearClassifier", 1, LinearClassifier,
                     {IntsAttribute("classlabels_ints"),
                      AttributeSchema{"classlabels_strings", AttributeKind::kStrings},
                      FloatsAttribute("coefficients"), FloatsAttribute("intercepts"),
                      IntAttribute("multi_class", 0), StringAttribute("post_transform", "NONE")},
                     /*max_outputs=*/2),
                 row("LinearRegressor", 1, LinearRegressor,
                     {FloatsAttribute("coefficients"), FloatsAttribute("intercepts"),
                      StringAttribute("post_transform", "NONE"), IntAttribute("targets", 1)}),
                 row("Scaler", 1, Scaler, {FloatsAttribute("offset"), FloatsAttribute("scale")}),
                 row("ZipMap", 1, ZipMap,
                     {IntsAttribute("classlabels_int64s"),
                      AttributeSchema{"classlabels_strings", AttributeKind::kStrings}})});
}

}  // namespace slipway
