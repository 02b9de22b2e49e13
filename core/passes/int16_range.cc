#include "core/passes/int16_range.h"

#include <algorithm>
#include <limits>

#include "core/tensor/tensor.h"

namespace slipway {
namespace {

// A constant of one i16.
std::optional<int> NumberOf(const Graph& graph, const Node& node, size_t input) {
  if (input >= node.inputs.size() || node.inputs[input] == kNoValue) return std::nullopt;
  const std::optional<Tensor>& constant = graph.values[node.inputs[input]].constant;
  if (!constant.has_value() || constant->dtype() != DataType::kInt16 ||
      constant->num_elements() != 1) {
    return std::nullopt;
  }
  return constant->values<int16_t>()[0];
}

std::optional<Int16Range> Checked(int least, int largest) {
  if (least < std::numeric_limits<int16_t>::min() || least > largest ||
      largest > std::numeric_limits<int16_t>::max()) {
    return std::nullopt;  // It may wrap around.
  }
  return Int16Range{least, largest};
}

}  // namespace

std::optional<Int16Range> RangeOf(const Graph& graph, const std::vector<NodeId>& producers,
                                  ValueId id) {
  if (producers[id] == kNoNode) return std::nullopt;
  const Node& node = graph.nodes[producers[id]];
  if (node.op == "Clip") {
    const std::optional<int> least = NumberOf(graph, node, 1);
    const std::optional<int> largest = NumberOf(graph, node, 2);
    if (!least.has_value() || !largest.has_value()) return std::nullopt;
    return Checked(*least, *largest);
  }
  if (node.op == "Cast") {
    const DataType from = graph.values[node.inputs[0]].type->dtype();
    if (from == DataType::kUint8) return Int16Range{0, 255};
    if (from == DataType::kInt8) return Int16Range{-128, 127};
    return std::nullopt;
  }
  if (node.op == "slipway.Pack") {
    // Perhaps with zeros.
    const std::optional<Int16Range> range = RangeOf(graph, producers, node.inputs[0]);
    if (!range.has_value()) return std::nullopt;
    return Int16Range{std::min(range->least, 0), std::max(range->largest, 0)};
  }
  if (node.op == "Reshape" || node.op == "slipway.View" || node.op == "slipway.Unpack" ||
      node.op == "MaxPool" || node.op == "slipway.MaxPoolNCHWc") {
    return RangeOf(graph, producers, node.inputs[0]);
  }
  if (node.op == "Add" || node.op == "Sub") {
    const std::optional<int> shift = NumberOf(graph, node, 1);
    const std::optional<Int16Range> range = RangeOf(graph, producers, node.inputs[0]);
    if (!shift.has_value() || !range.has_value()) return std::nullopt;
    const int by = node.op == "Add" ? *shift : -*shift;
    return Checked(range->least + by, range->largest + by);
  }
  return std::nullopt;
}

}  // namespace slipway
