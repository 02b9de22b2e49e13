#include "core/passes/scale_ahead.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

bool IsReal(const Tensor* constant) {
  return constant != nullptr && constant->dtype() == DataType::kFloat32;
}

// The constant with each number scaled; unset where one would be no finite number.
Tensor Scaled(const Tensor& constant, double factor) {
  std::vector<float> numbers;
  for (const float number : constant.values<float>()) {
    numbers.push_back(static_cast<float>(number * factor));
    if (!std::isfinite(numbers.back())) return Tensor();
  }
  return Tensor::Of<float>(constant.shape(), numbers);
}

class Scaling {
 public:
  Scaling(GraphRewriter& rewriter, const OperatorRegistry& registry, double factor)
      : rewriter_(rewriter), registry_(registry), factor_(factor) {}

  // Whether Make may be called; whether the value is made of sums of products.
  struct Answer {
    bool may = false;
    bool has_sums = false;
  };
  Answer Ask(ValueId x) {
    const Node* const node = rewriter_.Producer(x);
    if (const Tensor* const constant = rewriter_.constant(x)) return {CanScale(constant), false};
    if (node == nullptr) return {};
    if (node->op == "DequantizeLinear") {
      return {CanScale(rewriter_.constant(node->inputs[1])), WasScaledAhead(node->inputs[0])};
    }
    if (rewriter_.Uses(x) != 1) return {};
    if (node->op == "Conv") {
      const Node* const weights = rewriter_.Producer(node->inputs[1]);
      return {true, weights != nullptr && weights->op == "DequantizeLinear"};
    }
    if (node->op == "Mul") {
      const Node* const cast = rewriter_.Producer(node->inputs[0]);
      const Node* const sums = cast == nullptr ? nullptr : rewriter_.Producer(cast->inputs[0]);
      return {CanScale(rewriter_.constant(node->inputs[1])),
              sums != nullptr &&
                  (sums->op == "slipway.IntegerConv" || sums->op == "slipway.IntegerGemm")};
    }
    if (node->op == "Relu" || IsView(node->op)) return Ask(node->inputs[0]);
    if (node->op == "Clip") {
      for (size_t i = 1; i < node->inputs.size(); ++i) {
        if (node->inputs[i] != kNoValue && !CanScale(rewriter_.constant(node->inputs[i])))
          return {};
      }
      return Ask(node->inputs[0]);
    }
    if (node->op != "Add") return {};
    const ValueId second = node->inputs[1];
    const Answer a = Ask(node->inputs[0]);
    const Answer b = Ask(second);
    return {a.may && b.may, a.has_sums || b.has_sums};
  }

  absl::StatusOr<ValueId> Make(ValueId x) {
    const std::string name = absl::StrCat(rewriter_.graph().values[x].name, "_ahead");
    if (const Tensor* const constant = rewriter_.constant(x)) {
      return rewriter_.Constant(name, Scaled(*constant, factor_));
    }
    const Node node = *rewriter_.Producer(x);
    if (node.op == "Conv") {
      const ValueId factor = rewriter_.Constant(absl::StrCat(name, "_factor"),
                                                Tensor::Scalar(static_cast<float>(factor_)));
      return rewriter_.Add("Mul", {x, factor}, {}, name);
    }
    std::vector<ValueId> inputs = node.inputs;
    const bool scales_second = node.op == "DequantizeLinear" || node.op == "Mul";
    const bool scales_one = scales_second || IsView(node.op);
    const size_t first = scales_second ? 1 : 0;
    for (size_t i = first; i < (scales_one ? first + 1 : inputs.size()); ++i) {
      if (inputs[i] == kNoValue) continue;
      SLIPWAY_ASSIGN_OR_RETURN(inputs[i], Make(inputs[i]));
    }
    return rewriter_.Add(node.op, std::move(inputs), node.attributes, name);
  }

 private:
  // Whether a quantized value is made of such sums.
  bool WasScaledAhead(ValueId quantized) {
    const Node* node = rewriter_.Producer(quantized);
    while (node != nullptr && (node->op == "Clip" || node->op == "MaxPool")) {
      node = rewriter_.Producer(node->inputs[0]);
    }
    if (node == nullptr || node->op != "QuantizeLinear") return false;
    const Tensor* const scale = rewriter_.constant(node->inputs[1]);
    return IsReal(scale) && scale->num_elements() == 1 && scale->values<float>()[0] == 1;
  }
  bool CanScale(const Tensor* constant) const {
    return IsReal(constant) && Scaled(*constant, factor_).is_set();
  }

  bool IsView(const std::string& op) const { return registry_.MovementOf(op) == Movement::kView; }

  GraphRewriter& rewriter_;
  const OperatorRegistry& registry_;
  const double factor_;
};

}  // namespace

absl::StatusOr<std::optional<ValueId>> ScaleAhead(GraphRewriter& rewriter,
                                                  const OperatorRegistry& registry, ValueId x,
                                                  double factor) {
  Scaling scaling(rewriter, registry, factor);
  const Scaling::Answer answer = scaling.Ask(x);
  if (!answer.may || !answer.has_sums) return std::nullopt;
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId scaled, scaling.Make(x));
  return scaled;
}

}  // namespace slipway
