// Lowerings that make each output element by a formula from one element of each (broadcast) input.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_FORMULA_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_FORMULA_H_

#include <halide14/Halide.h>

#include <functional>
#include <vector>

#include "core/codegen/lowering.h"

namespace slipway {

// An output element from the input elements; an undefined Expr stands for an omitted input.
using Formula =
    std::function<Halide::Expr(const NodeView& node, const std::vector<Halide::Expr>& inputs)>;

// Formulas that ask nothing of the node.
Formula Unary(std::function<Halide::Expr(Halide::Expr)> function);
Formula Binary(std::function<Halide::Expr(Halide::Expr, Halide::Expr)> function);

enum class Types {
  kFloat,  // f32 alone.
  kResult,  // The result, and with it input 0, is f32; others are numbers of any type that f32 holds well.
  kNumber,  // Every number: all inputs and the output have one type.
  kEvery,   // Whatever a pipeline has, bool too; the formula sees to what differs.
};

Lowering Elementwise(Types types, Formula formula);

// A lowering of a family's table.
struct FormulaRow {
  const char* op;
  Types types;
  Formula formula;
};
absl::Status AddFormulas(absl::Span<const FormulaRow> rows, Lowerings& lowerings);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWER_FORMULA_H_
