// From elementwise operators to the few steps that templates can do to an element.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ELEMENT_STEPS_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ELEMENT_STEPS_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// What happens to each element of what a head makes, a product or rows that are normalized, in order.
struct ElementStep {
  enum class Kind {
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kMaximum,  // As of ONNX: what is no number stays.
    kMinimum,
    kNegate,
    kAbsolute,
    kSquareRoot,
    kExponential,
    kSigmoid,
    kHyperbolicTangent,
    kErrorFunction,
    kNearestInteger,  // The even one of two; 0 for what is no number.
  };
  struct Operand {
    enum class Kind { kHead, kStep, kTensor, kConstant };
    Kind kind = Kind::kHead;
    int index = 0;  // Of a step before this one, or of the tensors that steps read.
    float constant = 0;
  };
  Kind kind = Kind::kAdd;
  std::vector<Operand> operands;  // One or two.
};

// Writes steps.
class ElementSteps {
 public:
  using Operand = ElementStep::Operand;
  using Kind = ElementStep::Kind;

  // Adds to `steps`, which outlives it.
  explicit ElementSteps(std::vector<ElementStep>& steps) : steps_(steps) {}

  static Operand Constant(float value) { return {Operand::Kind::kConstant, 0, value}; }
  Operand Make(Kind kind, std::vector<Operand> operands) {
    steps_.push_back({kind, std::move(operands)});
    return {Operand::Kind::kStep, static_cast<int>(steps_.size()) - 1, 0};
  }
  Operand Plus(Operand a, Operand b) { return Make(Kind::kAdd, {a, b}); }
  Operand Times(Operand a, Operand b) { return Make(Kind::kMultiply, {a, b}); }
  Operand Clamp(Operand x, float low, float high) {
    return Make(Kind::kMinimum, {Make(Kind::kMaximum, {x, Constant(low)}), Constant(high)});
  }
  Operand Relu(Operand x) { return Make(Kind::kMaximum, {x, Constant(0)}); }
  // The approximation with tanh: (1 + tanh(z)) / 2 is the sigmoid of 2z.
  Operand GeluTanh(Operand x) {
    const Operand square = Times(x, x);
    const Operand slope = Plus(Times(square, Constant(0.0713548163F)), Constant(1.59576912F));
    return Times(x, Make(Kind::kSigmoid, {Times(x, slope)}));
  }

 private:
  std::vector<ElementStep>& steps_;
};

// Adds the steps of a node of one output, whose inputs are `operands`, unset where omitted. Integers of 16 bits at most are numbers as others are, so that what QuantizeLinear makes is one in its type's
// range. UNIMPLEMENTED names an operator that it does not know: "Softmax behind it".
absl::StatusOr<ElementStep::Operand> AddStepsOf(
    const NodeView& view, absl::Span<const std::optional<ElementStep::Operand>> operands,
    std::vector<ElementStep>& steps);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_ELEMENT_STEPS_H_
