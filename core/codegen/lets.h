// Names of what Halide's lowering takes out of expressions, put back in.
#ifndef SLIPWAY_CORE_CODEGEN_LETS_H_
#define SLIPWAY_CORE_CODEGEN_LETS_H_

#include <halide14/Halide.h>

#include <vector>

namespace slipway {

// `value` without the names that `lets`, outermost first, have around it.
inline Halide::Expr WithoutLets(const std::vector<const Halide::Internal::LetStmt*>& lets,
                                Halide::Expr value) {
  for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
    value = Halide::Internal::substitute((*let)->name, (*let)->value, value);
  }
  return value;
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LETS_H_
