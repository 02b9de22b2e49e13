// Comparisons, logic over bools (one byte, 0 or 1), classes of floats, and Where.
#include <limits>
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/lower/formula.h"

namespace slipway {
namespace {

using Halide::Expr;

// Halide takes a <= b for !(b < a), which holds for NaN.
Expr AtMost(Expr a, Expr b) { return TruthOf(a < b || a == b); }

Expr IsInf(const NodeView& node, const std::vector<Expr>& in) {
  const float infinity = std::numeric_limits<float>::infinity();
  Expr found = Halide::Internal::const_false();
  if (node.Int("detect_negative") != 0) found = found || in[0] == -infinity;
  if (node.Int("detect_positive") != 0) found = found || in[0] == infinity;
  return TruthOf(found);
}

Expr Where(const NodeView&, const std::vector<Expr>& in) {
  return SelectStrictly(in[0] != 0, in[1], in[2]);
}

absl::Status ServesFloat32Input(const NodeView& node, absl::Span<const ValueType>) {
  return ServesFloat32(node, {});
}

}  // namespace

absl::Status RegisterLogicLowerings(Lowerings& lowerings) {
  const FormulaRow rows[] = {
      {"And", Types::kEvery, Binary([](Expr a, Expr b) { return a & b; })},
      {"Equal", Types::kEvery, Binary([](Expr a, Expr b) { return TruthOf(a == b); })},
      {"Greater", Types::kEvery, Binary([](Expr a, Expr b) { return TruthOf(a > b); })},
      {"GreaterOrEqual", Types::kEvery, Binary([](Expr a, Expr b) { return AtMost(b, a); })},
      {"Less", Types::kEvery, Binary([](Expr a, Expr b) { return TruthOf(a < b); })},
      {"LessOrEqual", Types::kEvery, Binary(AtMost)},
      {"Not", Types::kEvery, Unary([](Expr x) { return x ^ Halide::cast<uint8_t>(1); })},
      {"Or", Types::kEvery, Binary([](Expr a, Expr b) { return a | b; })},
      {"Where", Types::kEvery, Where},
      {"Xor", Types::kEvery, Binary([](Expr a, Expr b) { return a ^ b; })},
  };
  SLIPWAY_RETURN_IF_ERROR(AddFormulas(rows, lowerings));
  const auto is_nan = [](Expr x) { return TruthOf(IsNan(x)); };
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add(
      "IsNaN", Elementwise(Types::kEvery, Unary(is_nan)).Serving(ServesFloat32Input)));
  return lowerings.Add("IsInf", Elementwise(Types::kEvery, IsInf).Serving(ServesFloat32Input));
}

}  // namespace slipway
