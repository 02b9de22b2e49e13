// Reading an input under NumPy's broadcasting.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_BROADCAST_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_BROADCAST_H_

#include <halide14/Halide.h>

#include <vector>

#include "core/graph/value_type.h"

namespace slipway {

// The element of `input`, a tensor of the type, that belongs to the output element at `at` (innermost
// first, at least as many as the type has dimensions). The number itself where the input is one that is known: formulas may be
// chosen by it.
inline Halide::Expr ReadBroadcast(const Halide::Func& input, const ValueType& type,
                                  const std::vector<Halide::Expr>& at) {
  if (input.defined() && !input.has_update_definition() && input.outputs() == 1 &&
      Halide::Internal::is_const(input.value())) {
    return input.value();
  }
  const int rank = type.rank();
  std::vector<Halide::Expr> index(at.begin(), at.begin() + rank);
  for (int i = 0; i < rank; ++i) {
    if (type.dimension(rank - 1 - i) == Dimension(1)) index[i] = 0;
  }
  return input(index);
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWER_BROADCAST_H_
