// Functions of one element that lowering sees as calls, and that are written out when it is done.
//
// Halide's strict_float holds for all that an expression is made of: were such a function an expression like others, each term of its
// polynomial would be a multiplication and an addition, only because its result goes into a strict sum. Written out last, its
// arithmetic may be contracted to multiply-adds whatever is around it, and no pass before has to look at it.
#ifndef SLIPWAY_CORE_CODEGEN_ELEMENT_FUNCTION_H_
#define SLIPWAY_CORE_CODEGEN_ELEMENT_FUNCTION_H_

#include <halide14/Halide.h>

#include <string>
#include <utility>
#include <vector>

namespace slipway {

struct ElementFunction {
  const char* name;  // No other function has it.
  // Of a variable, which may be a vector; the result has its type. strict_float inside holds as elsewhere.
  Halide::Expr (*body)(const Halide::Expr& x);
};

// Only in pipelines that a WriteOutElementFunctions with this function is a pass of.
Halide::Expr CallElementFunction(const ElementFunction& function, Halide::Expr x);

// The lowering pass behind the others. What is called inside of a strict_float is computed before it; where its argument needs what is
// bound inside, it stays there and is strict as well.
class WriteOutElementFunctions : public Halide::Internal::IRMutator {
 public:
  explicit WriteOutElementFunctions(std::vector<ElementFunction> functions)
      : functions_(std::move(functions)) {}

 protected:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Call* call) override;
  Halide::Expr visit(const Halide::Internal::Let* let) override;

 private:
  using Bindings = std::vector<std::pair<std::string, Halide::Expr>>;

  Halide::Expr WriteOut(const ElementFunction& function, const Halide::Expr& argument);
  Halide::Expr LiftFrom(const Halide::Internal::Call* strict);
  std::string NewName() { return "element" + std::to_string(names_++); }

  const std::vector<ElementFunction> functions_;
  Bindings* lifted_ = nullptr;  // Out of the strict_float around, in order; null outside of one.
  int bound_inside_ = 0;        // How many lets there are between it and here.
  int names_ = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_ELEMENT_FUNCTION_H_
