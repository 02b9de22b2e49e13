#include "core/passes/contents.h"

#include <utility>

#include "core/operators/contents.h"

namespace slipway {
namespace {

// The numbers as elements of the type; null where one is not known or no such element.
std::optional<Tensor> TensorOf(const TensorType& type, const Dimensions& elements) {
  Tensor tensor = Tensor::Zeros(type.dtype, type.shape);
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!elements[i].is_known()) return std::nullopt;
    const int64_t number = elements[i].extent();
    if (type.dtype == DataType::kInt64) {
      tensor.mutable_values<int64_t>()[i] = number;
    } else if (type.dtype == DataType::kInt32 && number == static_cast<int32_t>(number)) {
      tensor.mutable_values<int32_t>()[i] = static_cast<int32_t>(number);
    } else if (type.dtype == DataType::kBool) {
      tensor.mutable_bytes()[i] = number != 0 ? 1 : 0;
    } else {
      return std::nullopt;
    }
  }
  return tensor;
}

}  // namespace

void KnownContents::Show(const Node& node, NodeView& view) const {
  std::vector<const Dimensions*> contents;
  for (const ValueId id : node.inputs) {
    const bool known =
        id != kNoValue && static_cast<size_t>(id) < of_value_.size() && of_value_[id].has_value();
    contents.push_back(known ? &*of_value_[id] : nullptr);
  }
  view.set_contents(std::move(contents));
}

std::optional<Tensor> KnownContents::Learn(const Graph& graph, const Node& node,
                                           const NodeView& view) {
  if (view.schema().contents_rule == nullptr || node.outputs.empty() ||
      node.outputs[0] == kNoValue) {
    return std::nullopt;
  }
  const ValueType& type = *graph.values[node.outputs[0]].type;
  if (!type.is_static() || type.rank() > 1 || type.num_elements() > kMaxContents) {
    return std::nullopt;
  }
  Dimensions elements = view.schema().contents_rule(view);
  if (static_cast<int64_t>(elements.size()) != type.num_elements()) return std::nullopt;
  std::optional<Tensor> tensor = TensorOf(type.tensor(), elements);
  of_value_.resize(graph.values.size());
  of_value_[node.outputs[0]] = std::move(elements);
  return tensor;
}

}  // namespace slipway
