#include "core/passes/quantize_pass.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/passes/graph_rewriter.h"
#include "core/passes/quantized_values.h"
#include "core/tensor/tensor.h"

namespace slipway {
namespace {

constexpr int kLargestByte = 255;
constexpr int kLargestWeight = 127;

bool IsProduct(const Node& node) {
  return node.op == "Conv" || node.op == "ConvTranspose" || node.op == "Gemm" ||
         node.op == "MatMul";
}

bool IsOfMatrices(const Node& node) { return node.op == "Gemm" || node.op == "MatMul"; }

// Of a product that may be one of integers: the dimension of its weights along which output channels lie. Else why it may not.
absl::StatusOr<int64_t> ChannelAxisOf(const Graph& graph, const Node& node,
                                      const PassContext& context) {
  const std::optional<Tensor>& weights = graph.values[node.inputs[1]].constant;
  if (!weights.has_value()) return absl::UnimplementedError("its weights are not constant");
  if (graph.values[node.inputs[0]].constant.has_value()) {
    return absl::UnimplementedError("it is constant");
  }
  if (node.op == "ConvTranspose") {
    return absl::UnimplementedError(
        absl::StrCat("products of integers are for Conv, Gemm and MatMul, not for ", node.op));
  }
  if (weights->dtype() != DataType::kFloat32 || weights->num_elements() == 0) {
    return absl::UnimplementedError("its weights are not of f32");
  }
  int64_t axis = 0;
  if (IsOfMatrices(node)) {
    SLIPWAY_ASSIGN_OR_RETURN(const IntegerMatrices matrices,
                             IntegerMatricesOf(graph, node, context.registry));
    axis = matrices.column_axis();
  } else {
    SLIPWAY_RETURN_IF_ERROR(IntegerConvOf(graph, node, context.registry).status());
  }
  const int64_t terms = weights->num_elements() / weights->shape()[static_cast<size_t>(axis)];
  if (!HoldsSums(terms, kLargestByte, kLargestWeight)) {
    return absl::UnimplementedError(
        absl::StrCat("a sum of ", terms, " products may be more than 32 bits hold"));
  }
  if (!absl::c_all_of(weights->values<float>(), [](float w) { return std::isfinite(w); })) {
    return absl::UnimplementedError("its weights are not finite");
  }
  return axis;
}

// Whether quantizing what it reads and what it makes is the same.
bool KeepsCodes(const Node& node) { return node.op == "MaxPool" && node.outputs.size() == 1; }

struct Code {
  float scale = 1;
  uint8_t zero = 0;
};

Code CodeFor(const ValueRange& range) {
  // 0 is what surrounds images, and must be exact.
  const double least = std::min(0.0, double{range.least});
  const double greatest = std::max(0.0, double{range.greatest});
  if (least == greatest) return Code{};
  const double scale =
      std::max((greatest - least) / kLargestByte, double{std::numeric_limits<float>::min()});
  Code code;
  code.scale = static_cast<float>(scale);
  code.zero = static_cast<uint8_t>(std::clamp(std::round(-least / scale), 0.0, 255.0));
  return code;
}

absl::Status CheckRanges(const Graph& graph, const ValueRanges& ranges) {
  absl::flat_hash_set<absl::string_view> names;
  for (const Value& value : graph.values) names.insert(value.name);
  for (const auto& [name, range] : ranges) {
    if (!std::isfinite(range.least) || !std::isfinite(range.greatest) ||
        range.least > range.greatest) {
      return absl::InvalidArgumentError(absl::StrCat("the range of \"", absl::Utf8SafeCEscape(name),
                                                     "\" is ", range.least, " to ", range.greatest,
                                                     ": two finite numbers in order are wanted"));
    }
    if (names.contains(name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("there is a range for \"", absl::Utf8SafeCEscape(name),
                     "\", which is no value of the model; observe this model, with these options"));
  }
  return absl::OkStatus();
}

// Weights of f32 as i8, by the scales of their channels, which are places along a dimension.
struct ByteWeights {
  Tensor weights;
  Tensor scales;  // [channels]
};
ByteWeights QuantizeWeights(const Tensor& from, int64_t axis) {
  const absl::Span<const float> values = from.values<float>();
  const auto channels = static_cast<size_t>(from.shape()[static_cast<size_t>(axis)]);
  size_t inner = 1;
  for (size_t d = static_cast<size_t>(axis) + 1; d < from.shape().size(); ++d) {
    inner *= static_cast<size_t>(from.shape()[d]);
  }
  const auto for_each = [&](const auto& visit) {
    for (size_t i = 0; i < values.size();) {
      for (size_t channel = 0; channel < channels; ++channel) {
        for (const size_t end = i + inner; i < end; ++i) visit(i, channel);
      }
    }
  };
  std::vector<float> scales(channels, 0.0f);
  for_each([&](size_t i, size_t channel) {
    scales[channel] = std::max(scales[channel], std::abs(values[i]));
  });
  for (float& scale : scales) {
    scale = scale > 0 ? std::max(scale / kLargestWeight, std::numeric_limits<float>::min()) : 1.0f;
  }
  std::vector<int8_t> bytes(values.size());
  for_each([&](size_t i, size_t channel) {
    bytes[i] = static_cast<int8_t>(std::nearbyint(values[i] / scales[channel]));
  });
  return {Tensor::Of<int8_t>(from.shape(), bytes),
          Tensor::Of<float>({static_cast<int64_t>(channels)}, scales)};
}

class Quantizer {
 public:
  Quantizer(Graph graph, const ValueRanges& ranges, const PassContext& context)
      : plan_(PlanQuantization(graph, context)),
        ranges_(ranges),
        axis_(graph.nodes.size()),
        quantized_(graph.values.size(), kNoValue),
        rewriter_(std::move(graph), context.registry) {}

  absl::StatusOr<QuantizedGraph> Run();

 private:
  // Those products whose input has a range; the others are left.
  void ChooseProducts();
  // Makes the value's quantized form, if it has one.
  absl::Status QuantizeValue(ValueId id);
  // `axis` is that of ChannelAxisOf for a product, else absent.
  absl::Status Rewrite(Node node, std::optional<int64_t> axis);
  const std::string& NameOf(ValueId id) const { return rewriter_.graph().values[id].name; }

  QuantizationPlan plan_;
  const ValueRanges& ranges_;
  std::vector<std::optional<int64_t>> axis_;  // By node: ChannelAxisOf, of products.
  std::vector<ValueId> quantized_;            // By value: what is read in its place.
  std::set<ValueId> read_by_product_;         // And the sources of those.
  std::set<ValueId> stored_;                  // Those that whoever reads them reads quantized.
  GraphRewriter rewriter_;
};

void Quantizer::ChooseProducts() {
  const Graph& graph = rewriter_.graph();
  std::vector<NodeId> chosen;
  for (size_t i = 0; i < plan_.products.size(); ++i) {
    const NodeId id = plan_.products[i];
    const Node& node = graph.nodes[id];
    const ValueId source = plan_.sources[node.inputs[0]];
    if (ranges_.count(NameOf(source)) == 0) {
      plan_.left.push_back(
          {DisplayName(graph, node), absl::StrCat("nothing is known of \"", NameOf(source), "\"")});
      continue;
    }
    chosen.push_back(id);
    axis_[id] = plan_.axes[i];
  }
  plan_.products = std::move(chosen);
  const std::vector<NodeId> producers = Producers(graph);
  for (const NodeId id : plan_.products) {
    ValueId read = graph.nodes[id].inputs[0];
    const ValueId source = plan_.sources[read];
    const bool is_image = !IsOfMatrices(graph.nodes[id]);
    read_by_product_.insert(read);
    if (is_image) stored_.insert(read);
    while (read != source) {
      read = graph.nodes[producers[read]].inputs[0];
      read_by_product_.insert(read);
      if (is_image) stored_.insert(read);
    }
  }
}

absl::Status Quantizer::QuantizeValue(ValueId id) {
  if (id == kNoValue || read_by_product_.count(id) == 0) return absl::OkStatus();
  const Code code = CodeFor(ranges_.at(NameOf(plan_.sources[id])));
  const std::string name = NameOf(id);
  const ValueId scale =
      rewriter_.Constant(absl::StrCat(name, "_scale"), Tensor::Scalar(code.scale));
  const ValueId zero = rewriter_.Constant(absl::StrCat(name, "_zero"), Tensor::Scalar(code.zero));
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId bytes,
      rewriter_.Add("QuantizeLinear", {id, scale, zero}, {}, absl::StrCat(name, "_quantized")));
  SLIPWAY_ASSIGN_OR_RETURN(quantized_[id], rewriter_.Add("DequantizeLinear", {bytes, scale, zero},
                                                         {}, absl::StrCat(name, "_dequantized")));
  return absl::OkStatus();
}

absl::Status Quantizer::Rewrite(Node node, std::optional<int64_t> axis) {
  std::vector<ValueId> inputs = node.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ValueId& input = inputs[i];
    if (input == kNoValue || quantized_[input] == kNoValue) continue;
    const bool is_multiplied = axis.has_value() && i == 0;
    if (is_multiplied || stored_.count(input) > 0) input = quantized_[input];
  }
  if (axis.has_value()) {
    const ByteWeights weights = QuantizeWeights(*rewriter_.constant(inputs[1]), *axis);
    const std::string name = NameOf(inputs[1]);
    const ValueId bytes = rewriter_.Constant(absl::StrCat(name, "_quantized"), weights.weights);
    const ValueId scales = rewriter_.Constant(absl::StrCat(name, "_scales"), weights.scales);
    SLIPWAY_ASSIGN_OR_RETURN(inputs[1],
                             rewriter_.Add("DequantizeLinear", {bytes, scales}, {{"axis", *axis}},
                                           absl::StrCat(name, "_dequantized")));
  }
  const std::vector<ValueId> outputs = node.outputs;
  rewriter_.Keep(std::move(node), std::move(inputs));
  for (const ValueId output : outputs) SLIPWAY_RETURN_IF_ERROR(QuantizeValue(output));
  return absl::OkStatus();
}

absl::StatusOr<QuantizedGraph> Quantizer::Run() {
  ChooseProducts();
  std::vector<Node> nodes = rewriter_.TakeNodes();
  const std::vector<ValueId> inputs = rewriter_.graph().inputs;
  for (const ValueId input : inputs) SLIPWAY_RETURN_IF_ERROR(QuantizeValue(input));
  for (size_t n = 0; n < nodes.size(); ++n) {
    SLIPWAY_RETURN_IF_ERROR(Rewrite(std::move(nodes[n]), axis_[n]));
  }
  QuantizedGraph result;
  result.integer_products = static_cast<int>(plan_.products.size());
  result.left = std::move(plan_.left);
  SLIPWAY_ASSIGN_OR_RETURN(result.graph, std::move(rewriter_).Finish());
  return result;
}

}  // namespace

std::vector<ValueId> QuantizationPlan::Observed() const {
  std::set<ValueId> observed(sources.begin(), sources.end());
  observed.erase(kNoValue);
  return std::vector<ValueId>(observed.begin(), observed.end());
}

QuantizationPlan PlanQuantization(const Graph& graph, const PassContext& context) {
  QuantizationPlan plan;
  plan.sources.resize(graph.values.size(), kNoValue);
  const std::vector<NodeId> producers = Producers(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!IsProduct(node)) continue;
    const absl::StatusOr<int64_t> axis = ChannelAxisOf(graph, node, context);
    if (!axis.ok()) {
      plan.left.push_back({DisplayName(graph, node), std::string(axis.status().message())});
      continue;
    }
    plan.products.push_back(static_cast<NodeId>(n));
    plan.axes.push_back(*axis);
    std::vector<ValueId> chain = {node.inputs[0]};
    while (producers[chain.back()] != kNoNode && KeepsCodes(graph.nodes[producers[chain.back()]])) {
      chain.push_back(graph.nodes[producers[chain.back()]].inputs[0]);
    }
    for (const ValueId id : chain) plan.sources[id] = chain.back();
  }
  return plan;
}

absl::StatusOr<QuantizedGraph> Quantize(Graph graph, const ValueRanges& ranges,
                                        const PassContext& context) {
  SLIPWAY_RETURN_IF_ERROR(CheckRanges(graph, ranges));
  return Quantizer(std::move(graph), ranges, context).Run();
}

}  // namespace slipway
