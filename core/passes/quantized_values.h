// What QuantizeLinear and DequantizeLinear nodes say of the values between them, and which products may be of integers.
// Private to Quantize, DelayDequantize, FoldQuantization and RoundInGroups.
#ifndef SLIPWAY_CORE_PASSES_QUANTIZED_VALUES_H_
#define SLIPWAY_CORE_PASSES_QUANTIZED_VALUES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/operators/convolution.h"
#include "core/tensor/tensor.h"

namespace slipway {

// A number q of 8 bits stands for (q - zero) * scale.
struct LinearCode {
  DataType dtype = DataType::kInvalid;  // kInt8 or kUint8.
  float scale = 1;                      // Finite and above 0.
  int zero = 0;

  // What q - zero can be.
  int least() const { return (dtype == DataType::kInt8 ? -128 : 0) - zero; }
  int largest() const { return (dtype == DataType::kInt8 ? 127 : 255) - zero; }
  friend bool operator==(const LinearCode& a, const LinearCode& b) {
    return a.dtype == b.dtype && a.scale == b.scale && a.zero == b.zero;
  }
};

// The code of a QuantizeLinear's output or a DequantizeLinear's input: one for the whole tensor, f32 on the other side, and known.
std::optional<LinearCode> CodeOf(const Graph& graph, const Node& node);

// Constant weights of 8 bits, less their zero points.
struct QuantizedWeights {
  Tensor weights;             // i16
  std::vector<float> scales;  // One, or one an output channel.
  int largest = 0;            // No weight is farther from 0.
};
// Of a DequantizeLinear, where output channels are places along dimension `axis`; absent where it is another operator, what it reads
// is not constant, or its scales are along another dimension.
std::optional<QuantizedWeights> WeightsOf(const Graph& graph, const Node& node, int64_t axis,
                                          const OperatorRegistry& registry);

// A Conv whose products may be those of integers, if its image and weights are quantized. UNIMPLEMENTED says for people why it
// may not.
absl::StatusOr<ConvView> IntegerConvOf(const Graph& graph, const Node& node,
                                       const OperatorRegistry& registry);

// How many rows data [..., K] of two dimensions or more are: places of all dimensions but the last. Unknown where one of them is.
Dimension RowsOf(const ValueType& data);

// A product of such rows by weights.
struct IntegerMatrices {
  int64_t depth = 0;
  int64_t columns = 0;
  bool is_transposed = false;  // Weights are [columns, depth].
  // One number, or one a column; unset where nothing is added.
  std::optional<Tensor> bias;

  // The dimension of the weights along which columns lie.
  int64_t column_axis() const { return is_transposed ? 0 : 1; }
};
// The same of a MatMul or Gemm.
absl::StatusOr<IntegerMatrices> IntegerMatricesOf(const Graph& graph, const Node& node,
                                                  const OperatorRegistry& registry);

// Whether 32 bits hold any sum of `terms` products of integers of 8 bits whose distances from their zero points are at most
// these.
bool HoldsSums(int64_t terms, int64_t largest_x, int64_t largest_w);

// The numbers of a constant of 8 bits; none where it is not such a constant.
std::vector<int> BytesOf(const Tensor* constant);

// Constants of 8 bits less zero points, one or one a place along dimension `axis`, as i16. REQUIRES: as many.
Tensor LessZeros(const Tensor& stored, int64_t axis, std::vector<int> zeros);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_QUANTIZED_VALUES_H_
