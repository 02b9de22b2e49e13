// Functions of floats as vector expressions, where Halide has none or would call libm once a lane, and
// the numerics policy of comparisons.
//
// Halide compiles with fast-math flags: comparisons may assume that there are no NaNs, and max(NaN, 0)
// is 0. Slipway's policy is that NaN goes through Relu, Clip, Max, Min and the pools, as it does in the
// reference kernels, and that comparisons follow IEEE 754. The functions here see to it.
#ifndef SLIPWAY_CORE_CODEGEN_FLOAT_MATH_H_
#define SLIPWAY_CORE_CODEGEN_FLOAT_MATH_H_

#include <halide14/Halide.h>

#include <vector>

#include "core/codegen/element_function.h"

namespace slipway {

// The larger or smaller of two values; NaN if one of them is. Also for integers.
Halide::Expr MaxOf(Halide::Expr a, Halide::Expr b);
Halide::Expr MinOf(Halide::Expr a, Halide::Expr b);

// Whether a float is NaN, told by its bits: where a loop is not vectorized, as behind the last whole vector of an open extent,
// fast-math flags make Halide's own is_nan false.
Halide::Expr IsNan(Halide::Expr x);

// The result of one operation, or of several, as IEEE 754 has it: not simplified with what its operands are made of (x - x is
// no 0 where x is infinite, and (x + y) - x not y), nor contracted. Integers stay what they are.
Halide::Expr Strictly(Halide::Expr value);

// x inside of what is strict around it, computed as if nothing were: its products and sums may be contracted.
Halide::Expr Loosely(Halide::Expr x);

// select(condition, a, b) whose condition compares floats as IEEE 754 says.
Halide::Expr SelectStrictly(Halide::Expr condition, Halide::Expr a, Halide::Expr b);

// The identity of MaxOf resp. MinOf over values of `type`: the infinity, or the type's bound.
Halide::Expr LowestOf(Halide::Type type);
Halide::Expr HighestOf(Halide::Type type);

// Of f32: no libm behind them, NaN gives NaN, infinities and poles as IEEE 754 has them. Relative error
// below 1e-6 for ExpOf, ExpLessOneOf, ErfOf, LogOf, LogOfOneAndExpOf and SigmoidOf; absolute for CosOf, SinOf and TanhOf,
// however large the argument is; PowOf loses as many digits as exponent * log(base) has before the point.
Halide::Expr CosOf(Halide::Expr x);
Halide::Expr ErfOf(Halide::Expr x);
Halide::Expr ExpOf(Halide::Expr x);
Halide::Expr ExpLessOneOf(Halide::Expr x);
Halide::Expr LogOf(Halide::Expr x);
Halide::Expr LogOfOneAndExpOf(Halide::Expr x);
Halide::Expr PowOf(Halide::Expr base, Halide::Expr exponent);
Halide::Expr RoundOf(Halide::Expr x);  // To the nearest whole number, of two to the even one.
Halide::Expr SigmoidOf(Halide::Expr x);
Halide::Expr SinOf(Halide::Expr x);
Halide::Expr TanhOf(Halide::Expr x);

// Those that the functions above call.
std::vector<ElementFunction> ElementFunctions();

// Where a comparison of floats as IEEE 754 has it holds, as an element of type bool: 1 or 0.
Halide::Expr TruthOf(Halide::Expr condition);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_FLOAT_MATH_H_
