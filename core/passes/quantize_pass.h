// Quantize: products of f32 by weights as products of 8 bits, from what is known of the values that they read.
#ifndef SLIPWAY_CORE_PASSES_QUANTIZE_PASS_H_
#define SLIPWAY_CORE_PASSES_QUANTIZE_PASS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"

namespace slipway {

// What the elements of a value lie between, but for a few that may be cut off. Both finite.
struct ValueRange {
  float least = 0;
  float greatest = 0;
};
using ValueRanges = std::map<std::string, ValueRange>;  // By name of the value.

// A product with weights that stays one of f32.
struct LeftProduct {
  std::string node;    // Its name, or its first output's.
  std::string reason;  // For people: "its bias is not constant".
};

// Which products of a graph may be of 8 bits.
struct QuantizationPlan {
  std::vector<NodeId> products;
  std::vector<int64_t>
      axes;  // The dimension of each one's weights along which output channels lie.
  // By value, for what the products read: the value whose range decides, which is what a MaxPool reads for what it makes;
  // else kNoValue.
  std::vector<ValueId> sources;
  std::vector<LeftProduct> left;  // In the order of the nodes.

  // The values whose ranges are needed, in the order of the graph's values.
  std::vector<ValueId> Observed() const;
};
// REQUIRES: all types are known.
QuantizationPlan PlanQuantization(const Graph& graph, const PassContext& context);

struct QuantizedGraph {
  Graph graph;
  int integer_products = 0;
  std::vector<LeftProduct> left;
};

// Puts QuantizeLinear and DequantizeLinear behind every value that such a product reads and whose range is known (u8, one
// scale and zero point a tensor, with which 0 is exact), and DequantizeLinear between a product and its weights (i8, one scale
// an output channel, no zero point). Whoever else reads an image that a Conv reads reads it quantized, so that it lies in memory once; what
// else reads rows that a Gemm or MatMul reads, as sums around a layer do, reads them as they are, and so are graph outputs. What
// FoldQuantization makes of it computes in integers.
//
// INVALID_ARGUMENT: a range is not finite, is upside down, or is of no value of the graph.
absl::StatusOr<QuantizedGraph> Quantize(Graph graph, const ValueRanges& ranges,
                                        const PassContext& context);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_QUANTIZE_PASS_H_
