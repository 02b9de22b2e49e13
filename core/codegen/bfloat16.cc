#include "core/codegen/bfloat16.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Internal::Call;

constexpr char kRound[] = "slipway_round_to_bfloat16";

}  // namespace

Expr NearestBfloat16(const Expr& x) {
  const int lanes = x.type().lanes();
  const Expr bits = Halide::reinterpret(Halide::UInt(32, lanes), x);
  const Expr rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const Expr is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return Halide::reinterpret(
      Halide::BFloat(16, lanes),
      Halide::cast(Halide::UInt(16, lanes), Halide::select(is_nan, (bits >> 16) | 0x40, rounded)));
}

Expr RoundedToBfloat16(const Expr& x) {
  return Call::make(Halide::BFloat(16), kRound, {x}, Call::PureExtern);
}

Expr WriteOutRounding::visit(const Call* call) {
  if (call->name != kRound) return IRMutator::visit(call);
  const Expr x = mutate(call->args[0]);
  if (has_instruction_) return Halide::Internal::Cast::make(call->type, x);
  return Halide::Internal::common_subexpression_elimination(NearestBfloat16(x));
}

}  // namespace slipway
