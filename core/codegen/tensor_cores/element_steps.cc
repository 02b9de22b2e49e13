#include "core/codegen/tensor_cores/element_steps.h"

#include <iterator>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/quantization.h"
#include "core/tensor/dtype.h"

namespace slipway {
namespace {

using Operand = ElementStep::Operand;
using Kind = ElementStep::Kind;
using Formula = Operand (*)(ElementSteps& s, const NodeView& view, Operand x);

Operand LeakyRelu(ElementSteps& s, const NodeView& view, Operand x) {
  const Operand below = s.Make(Kind::kMinimum, {x, s.Constant(0)});
  return s.Plus(s.Make(Kind::kMaximum, {x, s.Constant(0)}),
                s.Times(below, s.Constant(view.Float("alpha"))));
}

Operand HardSigmoid(ElementSteps& s, const NodeView& view, Operand x) {
  const Operand line =
      s.Plus(s.Times(x, s.Constant(view.Float("alpha"))), s.Constant(view.Float("beta")));
  return s.Clamp(line, 0, 1);
}

Operand HardSwish(ElementSteps& s, const NodeView&, Operand x) {
  const Operand line = s.Plus(s.Times(x, s.Constant(1.0F / 6)), s.Constant(0.5F));
  return s.Times(x, s.Clamp(line, 0, 1));
}

Operand Swish(ElementSteps& s, const NodeView& view, Operand x) {
  const Operand scaled = s.Times(x, s.Constant(view.Float("alpha")));
  return s.Times(x, s.Make(Kind::kSigmoid, {scaled}));
}

// By the error function, or by its approximation with tanh.
Operand Gelu(ElementSteps& s, const NodeView& view, Operand x) {
  if (view.String("approximate") == "tanh") return s.GeluTanh(x);
  const Operand erf = s.Make(Kind::kErrorFunction, {s.Times(x, s.Constant(0.70710678F))});
  return s.Times(x, s.Plus(s.Times(erf, s.Constant(0.5F)), s.Constant(0.5F)));
}

struct FormulaRow {
  const char* op;
  Formula formula;
};
constexpr FormulaRow kFormulas[] = {
    {"Relu", [](ElementSteps& s, const NodeView&, Operand x) { return s.Relu(x); }},
    {"Reciprocal",
     [](ElementSteps& s, const NodeView&, Operand x) {
       return s.Make(Kind::kDivide, {s.Constant(1), x});
     }},
    {"Identity", [](ElementSteps&, const NodeView&, Operand x) { return x; }},
    {"Gelu", Gelu},
    {"HardSigmoid", HardSigmoid},
    {"HardSwish", HardSwish},
    {"LeakyRelu", LeakyRelu},
    {"Swish", Swish},
};

struct StepRow {
  const char* op;
  Kind kind;
  size_t operands;
};
constexpr StepRow kSteps[] = {
    {"Add", Kind::kAdd, 2},           {"Sub", Kind::kSubtract, 2},
    {"Mul", Kind::kMultiply, 2},      {"Div", Kind::kDivide, 2},
    {"Max", Kind::kMaximum, 2},       {"Min", Kind::kMinimum, 2},
    {"Neg", Kind::kNegate, 1},        {"Abs", Kind::kAbsolute, 1},
    {"Sqrt", Kind::kSquareRoot, 1},   {"Exp", Kind::kExponential, 1},
    {"Sigmoid", Kind::kSigmoid, 1},   {"Tanh", Kind::kHyperbolicTangent, 1},
    {"Erf", Kind::kErrorFunction, 1},
};

using Operands = absl::Span<const std::optional<Operand>>;

struct Range {
  DataType dtype;
  float least, largest;
};
constexpr Range kRanges[] = {{DataType::kInt8, -128, 127},
                             {DataType::kUint8, 0, 255},
                             {DataType::kInt16, -32768, 32767},
                             {DataType::kUint16, 0, 65535}};

bool IsNumber(const Operand& operand, float number) {
  return operand.kind == Operand::Kind::kConstant && operand.constant == number;
}

// The quotient is rounded as IEEE 754 has it: what lies beside a half decides over the result.
absl::StatusOr<Operand> Quantize(ElementSteps& s, const QuantizationView& view, Operands operands) {
  const auto range =
      absl::c_find_if(kRanges, [&](const Range& range) { return range.dtype == view.output; });
  if (range == std::end(kRanges)) {
    return absl::UnimplementedError(absl::StrCat("a QuantizeLinear to ", Name(view.output)));
  }
  Operand x = *operands[0];
  if (!IsNumber(*operands[1], 1)) x = s.Make(Kind::kDivide, {x, *operands[1]});
  x = s.Make(Kind::kNearestInteger, {x});
  if (operands.size() > 2 && operands[2].has_value()) x = s.Plus(x, *operands[2]);
  return s.Clamp(x, range->least, range->largest);
}

absl::StatusOr<Operand> Dequantize(ElementSteps& s, Operands operands) {
  Operand x = *operands[0];
  if (operands.size() > 2 && operands[2].has_value()) {
    x = s.Make(Kind::kSubtract, {x, *operands[2]});
  }
  return s.Times(x, *operands[1]);
}

// With one scale for all.
absl::StatusOr<Operand> AddQuantization(ElementSteps& s, const NodeView& node, Operands operands) {
  SLIPWAY_ASSIGN_OR_RETURN(const QuantizationView view, DecodeQuantization(node));
  if (view.granularity != Granularity::kTensor || view.precision != DataType::kInvalid) {
    return absl::UnimplementedError(absl::StrCat("scales along an axis of ", node.op()));
  }
  return node.op() == "QuantizeLinear" ? Quantize(s, view, operands) : Dequantize(s, operands);
}

}  // namespace

absl::StatusOr<Operand> AddStepsOf(const NodeView& view,
                                   absl::Span<const std::optional<Operand>> operands,
                                   std::vector<ElementStep>& steps) {
  ElementSteps s(steps);
  for (const StepRow& row : kSteps) {
    if (view.op() != row.op || operands.size() != row.operands) continue;
    std::vector<Operand> all;
    for (const std::optional<Operand>& operand : operands) all.push_back(*operand);
    return s.Make(row.kind, std::move(all));
  }
  for (const FormulaRow& row : kFormulas) {
    if (view.op() == row.op && operands.size() == 1) return row.formula(s, view, *operands[0]);
  }
  if (view.op() == "Clip") {
    Operand x = *operands[0];
    if (operands.size() > 1 && operands[1].has_value())
      x = s.Make(Kind::kMaximum, {x, *operands[1]});
    if (operands.size() > 2 && operands[2].has_value())
      x = s.Make(Kind::kMinimum, {x, *operands[2]});
    return x;
  }
  if (view.op() == "QuantizeLinear" || view.op() == "DequantizeLinear") {
    return AddQuantization(s, view, operands);
  }
  return absl::UnimplementedError(absl::StrCat(view.op(), " behind it"));
}

}  // namespace slipway
