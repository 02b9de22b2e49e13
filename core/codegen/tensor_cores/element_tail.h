// ElementTail: what a group does to each element of what its head makes, as steps.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ELEMENT_TAIL_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ELEMENT_TAIL_H_

#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/codegen/tensor_cores/element_steps.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/tensor/shape.h"

namespace slipway {

// Refers to body, registry and steps, which outlive it.
class ElementTail {
 public:
  // Makes an input of the group, of this shape, one of the tensors that steps read, and returns its number among these; asked once an input.
  using AddTensor = std::function<absl::StatusOr<int>(int input, const Shape& shape)>;

  ElementTail(const Graph& body, const OperatorRegistry& registry, AddTensor add_tensor,
              std::vector<ElementStep>& steps)
      : body_(body), registry_(registry), add_tensor_(std::move(add_tensor)), steps_(steps) {}

  // What a value is, that the head made.
  void Define(ValueId id, ElementStep::Operand operand) { made_[id] = operand; }
  // A constant of one element, something made before, or an input of the group.
  absl::StatusOr<ElementStep::Operand> OperandOf(ValueId id);
  // Adds the steps of nodes from number `begin` up to `end`, which make tensors of the shape of `head`. UNIMPLEMENTED for others, and as AddStepsOf has it.
  absl::Status AddNodes(size_t begin, size_t end, ValueId head);

 private:
  absl::Status AddNode(const NodeView& view, ValueId head);

  const Graph& body_;
  const OperatorRegistry& registry_;
  const AddTensor add_tensor_;
  std::vector<ElementStep>& steps_;
  std::map<ValueId, ElementStep::Operand> made_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ELEMENT_TAIL_H_
