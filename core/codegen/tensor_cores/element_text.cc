#include "core/codegen/tensor_cores/element_text.h"

namespace slipway {
namespace {

using Kind = ElementStep::Kind;

const std::string kOne = FloatLiteral(1);

// e^(factor * x).
std::string Exponential(const std::string& x, float factor, PtxWriter& w) {
  constexpr float kLog2OfE = 1.44269504F;
  return w.Float("ex2.approx.f32", {w.Float("mul.f32", {x, FloatLiteral(factor * kLog2OfE)})});
}

// 1 / (1 + e^(factor * x)).
std::string Logistic(const std::string& x, float factor, PtxWriter& w) {
  return w.Float("rcp.rn.f32", {w.Float("add.f32", {Exponential(x, factor, w), kOne})});
}

// Within 2e-7 of it. Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 7.1.26.
std::string ErrorFunction(const std::string& x, PtxWriter& w) {
  constexpr float kTerms[] = {1.061405429F, -1.453152027F, 1.421413741F, -0.284496736F,
                              0.254829592F};
  const std::string size = w.Float("abs.f32", {x});
  const std::string t =
      w.Float("rcp.rn.f32", {w.Float("fma.rn.f32", {size, FloatLiteral(0.3275911F), kOne})});
  std::string sum = w.Float("mov.f32", {FloatLiteral(kTerms[0])});
  for (size_t i = 1; i < std::size(kTerms); ++i) {
    sum = w.Float("fma.rn.f32", {sum, t, FloatLiteral(kTerms[i])});
  }
  const std::string falling = Exponential(w.Float("mul.f32", {x, x}), -1, w);
  const std::string rest = w.Float("mul.f32", {w.Float("mul.f32", {sum, t}), falling});
  return w.Float("copysign.f32", {x, w.Float("sub.f32", {kOne, rest})});
}

std::string WriteStep(Kind kind, const std::vector<std::string>& x, PtxWriter& w) {
  switch (kind) {
    case Kind::kAdd:
      return w.Float("add.f32", x);
    case Kind::kSubtract:
      return w.Float("sub.f32", x);
    case Kind::kMultiply:
      return w.Float("mul.f32", x);
    case Kind::kDivide:
      return w.Float("div.rn.f32", x);
    case Kind::kMaximum:
      return w.Float("max.NaN.f32", x);
    case Kind::kMinimum:
      return w.Float("min.NaN.f32", x);
    case Kind::kNegate:
      return w.Float("neg.f32", x);
    case Kind::kAbsolute:
      return w.Float("abs.f32", x);
    case Kind::kSquareRoot:
      return w.Float("sqrt.rn.f32", x);
    case Kind::kExponential:
      return Exponential(x[0], 1, w);
    case Kind::kSigmoid:
      return Logistic(x[0], -1, w);
    case Kind::kHyperbolicTangent:  // 1 - 2 / (1 + e^2x).
      return w.Float("fma.rn.f32", {Logistic(x[0], 2, w), FloatLiteral(-2), kOne});
    case Kind::kErrorFunction:
      return ErrorFunction(x[0], w);
    case Kind::kNearestInteger:
      return w.Float("cvt.rn.f32.s32", {w.Word("cvt.rni.s32.f32", x)});
  }
  return "";
}

}  // namespace

std::string WriteSteps(absl::Span<const ElementStep> steps, const ElementStep::Operand& result,
                       const std::string& head, const std::vector<std::string>& tensors,
                       PtxWriter& writer) {
  std::vector<std::string> made;
  const auto read = [&](const ElementStep::Operand& operand) {
    switch (operand.kind) {
      case ElementStep::Operand::Kind::kHead:
        break;
      case ElementStep::Operand::Kind::kStep:
        return made[static_cast<size_t>(operand.index)];
      case ElementStep::Operand::Kind::kTensor:
        return tensors[static_cast<size_t>(operand.index)];
      case ElementStep::Operand::Kind::kConstant:
        return FloatLiteral(operand.constant);
    }
    return head;
  };
  for (const ElementStep& step : steps) {
    std::vector<std::string> operands;
    for (const ElementStep::Operand& operand : step.operands) operands.push_back(read(operand));
    made.push_back(WriteStep(step.kind, operands, writer));
  }
  return read(result);
}

}  // namespace slipway
