#include "core/passes/quantized_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "core/base/status_macros.h"
#include "core/operators/quantization.h"
#include "core/passes/computed_constant.h"

namespace slipway {
namespace {

const Tensor* ConstantInput(const Graph& graph, const Node& node, size_t input) {
  if (node.inputs.size() <= input || node.inputs[input] == kNoValue) return nullptr;
  const std::optional<Tensor>& constant = graph.values[node.inputs[input]].constant;
  return constant.has_value() ? &*constant : nullptr;
}

bool IsByte(DataType dtype) { return dtype == DataType::kInt8 || dtype == DataType::kUint8; }

int ByteAt(const Tensor& bytes, int64_t i) {
  return bytes.dtype() == DataType::kInt8 ? bytes.values<int8_t>()[i] : bytes.values<uint8_t>()[i];
}

bool IsScale(float scale) { return std::isfinite(scale) && scale > 0; }

// All scales, or none where one is not fit to be one.
std::vector<float> ScalesOf(const Graph& graph, const Node& node) {
  const Tensor* const scale = ConstantInput(graph, node, 1);
  if (scale == nullptr || scale->dtype() != DataType::kFloat32) return {};
  const auto values = scale->values<float>();
  if (!absl::c_all_of(values, IsScale)) return {};
  return std::vector<float>(values.begin(), values.end());
}

// As many zero points as scales; none where they are not known.
std::vector<int> ZerosOf(const Graph& graph, const Node& node, size_t count) {
  if (node.inputs.size() <= 2 || node.inputs[2] == kNoValue) return std::vector<int>(count, 0);
  std::vector<int> zeros = BytesOf(ConstantInput(graph, node, 2));
  if (zeros.size() != count) zeros.clear();
  return zeros;
}

}  // namespace

std::optional<LinearCode> CodeOf(const Graph& graph, const Node& node) {
  const bool quantizes = node.op == "QuantizeLinear";
  if (!quantizes && node.op != "DequantizeLinear") return std::nullopt;
  const ValueType& stored = *graph.values[quantizes ? node.outputs[0] : node.inputs[0]].type;
  const ValueType& real = *graph.values[quantizes ? node.inputs[0] : node.outputs[0]].type;
  const int64_t* const precision = node.attributes.FindAs<int64_t>("precision");
  if (!IsByte(stored.dtype()) || real.dtype() != DataType::kFloat32 ||
      (precision != nullptr && *precision != 0)) {
    return std::nullopt;
  }
  const std::vector<float> scales = ScalesOf(graph, node);
  if (scales.size() != 1) return std::nullopt;
  const std::vector<int> zeros = ZerosOf(graph, node, 1);
  if (zeros.empty()) return std::nullopt;
  return LinearCode{stored.dtype(), scales[0], zeros[0]};
}

std::optional<QuantizedWeights> WeightsOf(const Graph& graph, const Node& node, int64_t axis,
                                          const OperatorRegistry& registry) {
  if (node.op != "DequantizeLinear") return std::nullopt;
  const Tensor* const stored = ConstantInput(graph, node, 0);
  if (stored == nullptr || !IsByte(stored->dtype()) ||
      static_cast<int64_t>(stored->shape().size()) <= axis ||
      graph.values[node.outputs[0]].type->dtype() != DataType::kFloat32) {
    return std::nullopt;
  }
  const absl::StatusOr<NodeView> view = NodeView::Create(graph, node, registry);
  if (!view.ok()) return std::nullopt;
  const absl::StatusOr<QuantizationView> quantization = DecodeQuantization(*view);
  if (!quantization.ok()) return std::nullopt;
  const bool by_channel =
      quantization->granularity == Granularity::kAxis && quantization->axis == axis;
  if (!by_channel && quantization->granularity != Granularity::kTensor) return std::nullopt;
  QuantizedWeights weights;
  weights.scales = ScalesOf(graph, node);
  const size_t count = by_channel ? static_cast<size_t>(stored->shape()[axis]) : 1;
  if (weights.scales.size() != count) return std::nullopt;
  std::vector<int> zeros = ZerosOf(graph, node, count);
  if (zeros.empty()) return std::nullopt;
  for (const int zero : zeros) {
    const LinearCode code = {stored->dtype(), 1, zero};
    weights.largest = std::max({weights.largest, -code.least(), code.largest()});
  }
  weights.weights = LessZeros(*stored, axis, std::move(zeros));
  return weights;
}

absl::StatusOr<ConvView> IntegerConvOf(const Graph& graph, const Node& node,
                                       const OperatorRegistry& registry) {
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph, node, registry));
  if (view.input_type(0).rank() != 4) {
    return absl::UnimplementedError("its image has another number of dimensions than two");
  }
  if (view.has_input(2) && ConstantInput(graph, node, 2) == nullptr) {
    return absl::UnimplementedError("its bias is not constant");
  }
  const absl::StatusOr<ConvView> conv = DecodeConv(view);
  if (!conv.ok()) return absl::UnimplementedError(conv.status().message());
  return conv;
}

Dimension RowsOf(const ValueType& data) {
  const Dimensions dimensions = data.dimensions();
  return NumElements(absl::MakeConstSpan(dimensions).first(dimensions.size() - 1));
}

absl::StatusOr<IntegerMatrices> IntegerMatricesOf(const Graph& graph, const Node& node,
                                                  const OperatorRegistry& registry) {
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph, node, registry));
  const bool is_gemm = node.op == "Gemm";
  const ValueType& x = view.input_type(0);
  const ValueType& w = view.input_type(1);
  if (is_gemm && (view.Int("transA") != 0 || view.Float("alpha") != 1 || view.Float("beta") != 1)) {
    return absl::UnimplementedError("it transposes its data, or has factors");
  }
  if (x.rank() < 2 || w.rank() != 2 || !w.is_static()) {
    return absl::UnimplementedError("it is no product of rows by a matrix");
  }
  IntegerMatrices product;
  product.is_transposed = is_gemm && view.Int("transB") != 0;
  product.columns = w.dimension(static_cast<int>(product.column_axis())).extent();
  product.depth = w.dimension(static_cast<int>(1 - product.column_axis())).extent();
  if (RowsOf(x).is_unknown() || x.dimension(x.rank() - 1) != Dimension(product.depth) ||
      NumElements(x.dimensions()) == Dimension(0) || product.columns == 0) {
    return absl::UnimplementedError("only running tells what its extents are, or it is empty");
  }
  if (!view.has_input(2)) return product;
  const Tensor* const bias = ConstantInput(graph, node, 2);
  if (bias == nullptr) return absl::UnimplementedError("its bias is not constant");
  if (bias->num_elements() != 1 &&
      (bias->num_elements() != product.columns || bias->shape().back() != product.columns)) {
    return absl::UnimplementedError("its bias is not one number a column");
  }
  SLIPWAY_ASSIGN_OR_RETURN(product.bias, bias->Reshaped({bias->num_elements()}));
  return product;
}

bool HoldsSums(int64_t terms, int64_t largest_x, int64_t largest_w) {
  return terms * largest_x * largest_w <= std::numeric_limits<int32_t>::max();
}

std::vector<int> BytesOf(const Tensor* constant) {
  std::vector<int> numbers;
  if (constant == nullptr || !IsByte(constant->dtype())) return numbers;
  for (int64_t i = 0; i < constant->num_elements(); ++i) numbers.push_back(ByteAt(*constant, i));
  return numbers;
}

Tensor LessZeros(const Tensor& stored, int64_t axis, std::vector<int> zeros) {
  const bool is_one = zeros.size() == 1;
  int64_t inner = 1;
  for (size_t d = static_cast<size_t>(axis) + 1; d < stored.shape().size(); ++d) {
    inner *= stored.shape()[d];
  }
  return ComputedConstant(
      stored, {DataType::kInt16, stored.shape()},
      [inner, is_one, zeros = std::move(zeros)](const Tensor& from, Tensor& to) {
        const absl::Span<int16_t> numbers = to.mutable_values<int16_t>();
        for (int64_t i = 0; i < from.num_elements(); ++i) {
          const size_t place = is_one ? 0 : static_cast<size_t>(i / inner) % zeros.size();
          numbers[i] = static_cast<int16_t>(ByteAt(from, i) - zeros[place]);
        }
      });
}

}  // namespace slipway
