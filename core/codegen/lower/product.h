// Products of matrices under MatMul's rules, shared by the families that have one.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_PRODUCT_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_PRODUCT_H_

#include <halide14/Halide.h>

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/codegen/lowering.h"

namespace slipway {

// A term of the sums of type `type`, of an element of input 0 and one of input 1 in `column`.
using ProductTerm =
    std::function<Halide::Expr(Halide::Expr left, Halide::Expr right, Halide::Expr column)>;

// Inputs 0 and 1 multiplied, as ONNX's MatMul has it. Operands of rank 1 are a row on the left and a column on the
// right, which the result then lacks.
absl::StatusOr<std::vector<Halide::Func>> LowerProduct(LoweringContext& context, Halide::Type type,
                                                       const ProductTerm& term);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWER_PRODUCT_H_
