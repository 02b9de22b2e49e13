#include "core/codegen/element_function.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Internal::Call;
using Halide::Internal::Let;
using Halide::Internal::ScopedValue;
using Halide::Internal::Variable;

// What the body uses twice is one value: strict and not, it would be two that differ.
Expr BodyOf(const ElementFunction& function, const Expr& x) {
  return Halide::Internal::common_subexpression_elimination(function.body(x),
                                                            /*lift_all=*/true);
}

}  // namespace

Expr CallElementFunction(const ElementFunction& function, Expr x) {
  const Halide::Type type = x.type();
  return Call::make(type, function.name, {std::move(x)}, Call::PureExtern);
}

Expr WriteOutElementFunctions::visit(const Call* call) {
  if (call->is_intrinsic(Call::strict_float) && lifted_ == nullptr) return LiftFrom(call);
  if (call->call_type == Call::PureExtern) {
    for (const ElementFunction& function : functions_) {
      if (call->name == function.name) return WriteOut(function, call->args[0]);
    }
  }
  return IRMutator::visit(call);
}

Expr WriteOutElementFunctions::visit(const Let* let) {
  const ScopedValue<int> bound(bound_inside_, bound_inside_ + 1);
  return IRMutator::visit(let);
}

Expr WriteOutElementFunctions::WriteOut(const ElementFunction& function, const Expr& argument) {
  Expr value = mutate(argument);
  const std::string name = NewName();
  const Expr body = BodyOf(function, Variable::make(value.type(), name));
  if (lifted_ == nullptr || bound_inside_ > 0) return Let::make(name, std::move(value), body);
  lifted_->emplace_back(name, std::move(value));
  lifted_->emplace_back(NewName(), body);
  return Variable::make(body.type(), lifted_->back().first);
}

Expr WriteOutElementFunctions::LiftFrom(const Call* strict) {
  Bindings bindings;
  Expr result;
  {
    const ScopedValue<Bindings*> lifted(lifted_, &bindings);
    const ScopedValue<int> bound(bound_inside_, 0);
    result = IRMutator::visit(strict);
  }
  for (auto binding = bindings.rbegin(); binding != bindings.rend(); ++binding) {
    result = Let::make(binding->first, binding->second, result);
  }
  return result;
}

}  // namespace slipway
