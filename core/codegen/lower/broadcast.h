// Reading an input under NumPy's broadcasting.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_BROADCAST_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_BROADCAST_H_

#include <halide14/Halide.h>

#include <vector>

#include "absl/types/span.h"

namespace slipway {

// The element of `input`, of shape `shape`, that belongs to the output element at `at` (innermost
// first, at least as many as the shape has).
inline Halide::Expr ReadBroadcast(const Halide::Func& input, absl::Span<const int64_t> shape,
                                  const std::vector<Halide::Expr>& at) {
  std::vector<Halide::Expr> index(at.begin(), at.begin() + shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[shape.size() - 1 - i] == 1) index[i] = 0;
  }
  return input(index);
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWER_BROADCAST_H_
