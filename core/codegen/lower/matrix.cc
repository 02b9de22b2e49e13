// Matrix products: Gemm, MatMul with batches, and Gemm with packed weights.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/lower/broadcast.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/lower/product.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

Anchor ProductOf(MatrixStages stages) {
  return {AnchorKind::kMatrixProduct, std::move(stages), /*takes_epilogue=*/true};
}

// `matrix` with its two innermost dimensions exchanged, in memory of its own: the product reads rows of
// the right operand as vectors.
absl::StatusOr<Func> Transposed(const LoweringContext& context, const Func& matrix,
                                const std::vector<int>& extents) {
  const std::vector<Var> vars = FreshVars(matrix.dimensions());
  std::vector<Expr> at = AsExprs(vars);
  std::swap(at[0], at[1]);
  Func transposed("transposed");
  transposed(vars) = matrix(at);
  std::vector<int> swapped = extents;
  std::swap(swapped[0], swapped[1]);
  SLIPWAY_RETURN_IF_ERROR(
      context.schedule({AnchorKind::kInjective, InjectiveStages{swapped}}, transposed));
  return transposed;
}

absl::StatusOr<std::vector<Func>> LowerGemm(LoweringContext& context) {
  const NodeView& node = context.node;
  const bool trans_a = node.Int("transA") != 0;
  const bool trans_b = node.Int("transB") != 0;
  const Shape& a_shape = node.input_shape(0);
  const Shape& out = context.output_types[0].shape;
  const int depth = static_cast<int>(a_shape[trans_a ? 0 : 1]);
  const Func a = context.inputs[0];
  Func b = context.inputs[1];
  if (trans_b) {
    SLIPWAY_ASSIGN_OR_RETURN(b, Transposed(context, b, HalideExtents(node.input_shape(1))));
  }
  Var column("column"), row("row");
  RDom k(0, depth, "k");
  Func accumulator("accumulator");
  accumulator(column, row) = 0.0f;
  accumulator(column, row) += (trans_a ? a(row, k) : a(k, row)) * b(column, k);
  Func result("gemm");
  Expr value = accumulator(column, row);
  if (node.Float("alpha") != 1.0f) value *= node.Float("alpha");
  if (node.has_input(2)) {
    Expr c = ReadBroadcast(context.inputs[2], node.input_shape(2), {column, row});
    if (node.Float("beta") != 1.0f) c *= node.Float("beta");
    value += c;
  }
  result(column, row) = value;
  context.anchor =
      ProductOf({accumulator, k, static_cast<int>(out[1]), static_cast<int>(out[0]), 1, 0});
  return std::vector<Func>{result};
}

}  // namespace

absl::StatusOr<std::vector<Func>> LowerProduct(LoweringContext& context, Halide::Type type,
                                               const ProductTerm& term) {
  const Shape& a_shape = context.node.input_shape(0);
  const Shape& b_shape = context.node.input_shape(1);
  const Shape& out = context.output_types[0].shape;
  const bool has_rows = a_shape.size() >= 2;
  const bool has_columns = b_shape.size() >= 2;
  const int batch_rank = static_cast<int>(out.size()) - has_rows - has_columns;
  const int rows = has_rows ? static_cast<int>(a_shape[a_shape.size() - 2]) : 1;
  const int columns = has_columns ? static_cast<int>(b_shape.back()) : 1;
  const int depth = static_cast<int>(a_shape.back());

  const std::vector<Var> vars = FreshVars(batch_rank + 2);  // column, row, batch...
  RDom k(0, depth, "k");
  const std::vector<Expr> batch(vars.begin() + 2, vars.end());
  const auto read = [&batch](const Func& matrix, const Shape& shape, const Expr& column,
                             const Expr& row) {
    if (shape.size() == 1) return Expr(matrix(column));
    std::vector<Expr> at = {column, row};
    for (size_t i = 0; i + 2 < shape.size(); ++i) {
      at.push_back(shape[shape.size() - 3 - i] == 1 ? Expr(0) : batch[i]);
    }
    return Expr(matrix(at));
  };
  const Expr right =
      has_columns ? read(context.inputs[1], b_shape, vars[0], k) : Expr(context.inputs[1](k));
  Func accumulator("accumulator");
  accumulator(vars) = Halide::Internal::make_zero(type);
  accumulator(vars) += term(read(context.inputs[0], a_shape, k, vars[1]), right, vars[0]);
  MatrixStages stages = {accumulator, k, columns, rows, 1, 0};
  for (int i = 0; i < batch_rank; ++i) stages.batch *= out[i];

  Func product("matmul");
  product(vars) = accumulator(vars);
  if (has_rows && has_columns) {
    context.anchor = ProductOf(stages);
    return std::vector<Func>{product};
  }
  product.compute_root();
  SLIPWAY_RETURN_IF_ERROR(context.schedule(ProductOf(stages), product));
  const std::vector<Var> out_vars = FreshVars(static_cast<int>(out.size()));
  std::vector<Expr> at = AsExprs(out_vars);
  if (!has_columns) at.insert(at.begin(), 0);
  if (!has_rows) at.insert(at.begin() + 1, 0);
  Func result("matmul_vector");
  result(out_vars) = product(at);
  return std::vector<Func>{result};
}

namespace {

absl::StatusOr<std::vector<Func>> LowerMatMul(LoweringContext& context) {
  return LowerProduct(context, Halide::Float(32),
                      [](Expr left, Expr right, Expr) { return left * right; });
}

// w is [blocks, K, n]; the columns beyond `columns` are padding.
absl::StatusOr<std::vector<Func>> LowerGemmPacked(LoweringContext& context) {
  const Shape& w = context.node.input_shape(1);
  const Shape& out = context.output_types[0].shape;
  const int blocks = static_cast<int>(w[0]);
  const int depth = static_cast<int>(w[1]);
  const int block = static_cast<int>(w[2]);
  const int columns = static_cast<int>(out[1]);
  const int rows = static_cast<int>(out[0]);
  if (int64_t{blocks} * block < columns) {
    return context.node.Error(absl::StrCat("its packed weights hold ", blocks * block,
                                           " columns, but the output has ", columns));
  }
  Var column("column"), row("row");
  RDom k(0, depth, "k");
  Func accumulator("accumulator");
  accumulator(column, row) = 0.0f;
  accumulator(column, row) +=
      context.inputs[0](k, row) * context.inputs[1](column % block, k, column / block);
  const bool exact = columns == blocks * block;
  Func product("gemm");
  Expr value = accumulator(column, row);
  if (exact && context.node.has_input(2)) value += context.inputs[2](column);
  product(column, row) = value;
  const MatrixStages stages = {accumulator, k, blocks * block, rows, 1, block};
  if (exact) {
    context.anchor = ProductOf(stages);
    return std::vector<Func>{product};
  }
  // Whole blocks in scratch memory; the operator's result takes its columns from there.
  product.compute_root().bound(column, 0, blocks * block);
  SLIPWAY_RETURN_IF_ERROR(context.schedule(ProductOf(stages), product));
  Func result("gemm_columns");
  Expr taken = product(column, row);
  if (context.node.has_input(2)) taken += context.inputs[2](column);
  result(column, row) = taken;
  return std::vector<Func>{result};
}

}  // namespace

absl::Status RegisterMatrixLowerings(Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("Gemm", Lowering(LowerGemm).Serving(ServesFloat32)));
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("MatMul", Lowering(LowerMatMul).Serving(ServesFloat32)));
  return lowerings.Add("slipway.GemmPacked", Lowering(LowerGemmPacked).Serving(ServesFloat32));
}

}  // namespace slipway
