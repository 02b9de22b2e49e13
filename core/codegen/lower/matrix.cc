// Matrix products: Gemm of floats and of integers, MatMul with batches, and Gemm with packed weights.
#include "core/operators/matrix.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/lower/broadcast.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/lower/product.h"
#include "core/codegen/lower/reduction.h"
#include "core/codegen/lower/strassen.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

Anchor ProductOf(MatrixStages stages) {
  return {AnchorKind::kMatrixProduct, std::move(stages), /*takes_epilogue=*/true};
}

// An index that does not leave an operand in tiles that reach beyond an open extent.
Expr Within(const Expr& index, const Extent& extent) {
  if (extent.known != kOpen) return index;
  return Halide::clamp(Halide::likely(index), 0, extent.expr - 1);
}

// Whether a product has one column, and a depth along which vectors run: both operands lie in one piece there.
bool AreDotProducts(const LoweringContext& context, const Extent& columns, const Extent& depth) {
  return columns.known == 1 && depth.known != kOpen && depth.known >= context.lanes;
}

// The sums of `term`, a function of a step of the depth, for each place of `kept`.
PartialReduction SumAlong(const LoweringContext& context, int depth, Halide::Type type,
                          const std::vector<Var>& kept,
                          const std::function<Expr(const Expr& step)>& term) {
  // Several sums at a time where they are long: one alone would wait for itself.
  const int lanes = context.lanes * (depth >= 64 * context.lanes ? 4 : 1);
  std::vector<Extent> extents(kept.size() + 1, Extent(1));  // Nothing is asked of the kept ones.
  // As if it were open: what is left behind whole vectors is summed one by one.
  extents[0] = Extent(depth % lanes == 0 ? depth : kOpen, Expr(depth));
  std::vector<bool> reduced(extents.size(), false);
  reduced[0] = true;
  return ReducePartially(
      lanes, [&](const std::vector<Expr>& at) { return term(at[0]); }, extents, reduced, kept,
      SumCombiner(type), "dot");
}

Anchor DotProductsOf(PartialReduction reduction, Halide::Type type, std::vector<int> out_extents,
                     int64_t elements) {
  return {AnchorKind::kReduction,
          ReductionStages{std::move(reduction), type, 0, std::move(out_extents), elements},
          /*takes_epilogue=*/true};
}

absl::StatusOr<std::vector<Func>> LowerGemm(LoweringContext& context) {
  const NodeView& node = context.node;
  const bool trans_a = node.Int("transA") != 0;
  const bool trans_b = node.Int("transB") != 0;
  const std::vector<Extent> a_extents = context.Extents(node.input_type(0));
  const int columns = HalideExtents(context.output_types[0])[0];
  const Extent& rows = a_extents[trans_a ? 0 : 1];
  const Extent& depth = a_extents[trans_a ? 1 : 0];
  const Func a = context.inputs[0];
  const Func b = context.inputs[1];
  Var column("column"), row("row"), step("step");
  RDom k(0, depth.expr, "k");
  Func right("right");
  right(column, step) = trans_b ? b(step, column) : b(column, step);
  Func accumulator("accumulator");
  accumulator(column, row) = 0.0f;
  const Expr at = Within(row, rows);
  accumulator(column, row) += (trans_a ? a(at, k) : a(k, at)) * right(column, k);
  Anchor anchor = ProductOf({.accumulator = accumulator,
                             .reduction = k,
                             .columns = columns,
                             .rows = rows.known,
                             .right = right,
                             .right_is_transposed = trans_b});
  Expr value = accumulator(column, row);
  if (!trans_a && AreDotProducts(context, columns, depth)) {
    const Halide::Type type = Halide::Float(32);
    const PartialReduction dots =
        SumAlong(context, depth.known, type, {row}, [&](const Expr& at_step) {
          return a(at_step, row) * (trans_b ? b(at_step, 0) : b(0, at_step));
        });
    value = dots.total(row);
    anchor = DotProductsOf(dots, type, {columns, rows.known},
                           int64_t{Assumed(rows.known)} * depth.known);
  }
  Func result("gemm");
  if (node.Float("alpha") != 1.0f) value *= node.Float("alpha");
  if (node.has_input(2)) {
    Expr c = ReadBroadcast(context.inputs[2], node.input_type(2), {column, row});
    if (node.Float("beta") != 1.0f) c *= node.Float("beta");
    value += c;
  }
  result(column, row) = value;
  context.anchor = anchor;
  return std::vector<Func>{result};
}

}  // namespace

absl::StatusOr<std::vector<Func>> LowerProduct(LoweringContext& context, Halide::Type type,
                                               const ProductTerm& term) {
  const std::vector<Extent> a_extents = context.Extents(context.node.input_type(0));
  const std::vector<Extent> b_extents = context.Extents(context.node.input_type(1));
  const std::vector<int> out = HalideExtents(context.output_types[0]);
  const bool has_rows = a_extents.size() >= 2;
  const bool has_columns = b_extents.size() >= 2;
  const int batch_rank = static_cast<int>(out.size()) - has_rows - has_columns;
  const Extent rows = has_rows ? a_extents[1] : Extent(1);
  const Extent columns = has_columns ? b_extents[0] : Extent(1);
  const std::vector<Var> vars = FreshVars(batch_rank + 2);  // column, row, batch...
  RDom k(0, a_extents[0].expr, "k");
  const std::vector<Expr> batch(vars.begin() + 2, vars.end());
  const auto read = [&batch](const Func& matrix, const std::vector<Extent>& extents,
                             const Expr& column, const Expr& row) {
    if (extents.size() == 1) return Expr(matrix(column));
    std::vector<Expr> at = {column, row};
    for (size_t i = 2; i < extents.size(); ++i) {
      at.push_back(extents[i].known == 1 ? Expr(0) : batch[i - 2]);
    }
    return Expr(matrix(at));
  };
  // Tiles may reach beyond an open number of columns: what is read there is copied from the last one.
  const Func b = context.inputs[1];
  std::vector<Var> right_vars = vars;
  right_vars[1] = Var("step");
  Func right("right");
  right(right_vars) = has_columns ? read(b, b_extents, Within(vars[0], columns), right_vars[1])
                                  : Expr(b(right_vars[1]));
  std::vector<Expr> right_at = AsExprs(vars);
  right_at[1] = k;
  Func accumulator("accumulator");
  accumulator(vars) = Halide::Internal::make_zero(type);
  accumulator(vars) +=
      term(read(context.inputs[0], a_extents, k, Within(vars[1], rows)), right(right_at), vars[0]);
  MatrixStages stages = {.accumulator = accumulator,
                         .reduction = k,
                         .columns = columns.known,
                         .rows = rows.known,
                         .right = right};
  std::vector<int> extents = {columns.known, rows.known};
  for (int i = 0; i < batch_rank; ++i) {
    extents.push_back(out[out.size() - batch_rank + i]);
    stages.batch *= Assumed(extents.back());
  }

  Func product("matmul");
  Anchor anchor;
  if (AreDotProducts(context, columns, a_extents[0])) {
    const int depth = a_extents[0].known;
    const std::vector<Var> kept(vars.begin() + 1, vars.end());
    const PartialReduction dots = SumAlong(context, depth, type, kept, [&](const Expr& step) {
      const Expr left = read(context.inputs[0], a_extents, step, vars[1]);
      return term(left, has_columns ? read(b, b_extents, 0, step) : Expr(b(step)), 0);
    });
    product(vars) = dots.total(AsExprs(kept));
    anchor = DotProductsOf(dots, type, extents, stages.batch * Assumed(rows.known) * depth);
  } else {
    product(vars) = accumulator(vars);
    anchor = ProductOf(stages);
  }
  if (has_rows && has_columns) {
    context.anchor = anchor;
    return std::vector<Func>{product};
  }
  product.compute_root();
  SLIPWAY_RETURN_IF_ERROR(context.schedule(anchor, product));
  const std::vector<Var> out_vars = FreshVars(static_cast<int>(out.size()));
  std::vector<Expr> at = AsExprs(out_vars);
  if (!has_columns) at.insert(at.begin(), 0);
  if (!has_rows) at.insert(at.begin() + 1, 0);
  Func result("matmul_vector");
  result(out_vars) = product(at);
  return std::vector<Func>{result};
}

namespace {

absl::StatusOr<std::vector<Func>> LowerIntegerGemm(LoweringContext& context) {
  return LowerProduct(context, Halide::Int(32), [](const Expr& left, const Expr& right, Expr) {
    return Halide::cast<int32_t>(left) * Halide::cast<int32_t>(right);
  });
}

absl::StatusOr<std::vector<Func>> LowerMatMul(LoweringContext& context) {
  return LowerProduct(context, Halide::Float(32),
                      [](Expr left, Expr right, Expr) { return left * right; });
}

// Batch dimensions must be seen to be the same, or 1.
absl::Status ServesMatMul(const NodeView& node, absl::Span<const ValueType> outputs) {
  SLIPWAY_RETURN_IF_ERROR(ServesFloat32(node, outputs));
  const ValueType& y = outputs[0];
  const bool is_static =
      node.input_type(0).is_static() && node.input_type(1).is_static() && y.is_static();
  if (is_static) return absl::OkStatus();
  for (int i = 0; i < 2; ++i) {
    const ValueType& x = node.input_type(i);
    bool fits = x.rank() >= 2;
    for (int d = 0; fits && d + 2 < x.rank(); ++d) {
      const Dimension extent = x.dimension(d);
      fits = extent == Dimension(1) || SameExtent(extent, y.dimension(d + y.rank() - x.rank()));
    }
    if (!fits) {
      return node.Unimplemented(absl::StrCat("no kernel can be generated for ", ToString(x), " in ",
                                             ToString(y), " yet"));
    }
  }
  const Dimension depth = node.input_type(0).dimension(node.input_type(0).rank() - 1);
  if (SameExtent(depth, node.input_type(1).dimension(node.input_type(1).rank() - 2))) {
    return absl::OkStatus();
  }
  return node.Unimplemented("no kernel can be generated where only running tells the depth");
}

// Of Gemm only the number of rows may be open.
absl::Status ServesGemm(const NodeView& node, absl::Span<const ValueType> outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(node));
  if (gemm.terms == 1 && !gemm.is_integer) SLIPWAY_RETURN_IF_ERROR(ServesFloat32(node, outputs));
  const ValueType& y = outputs[0];
  if (y.is_static() && node.input_type(0).is_static()) return absl::OkStatus();
  const auto is_row_or_one = [&y](const Dimension& extent) {
    return extent == Dimension(1) || SameExtent(extent, y.dimension(0));
  };
  bool fits = node.input_type(1).is_static() && y.dimension(1).is_known();
  for (int d = 0; d < 2; ++d) {
    const Dimension extent = node.input_type(0).dimension(d);
    fits = fits && (extent.is_known() || SameExtent(extent, y.dimension(0)));
  }
  if (fits && node.has_input(2) && node.input_type(2).rank() == 2) {
    fits = is_row_or_one(node.input_type(2).dimension(0));
  }
  if (fits) return absl::OkStatus();
  return node.Unimplemented("no kernel can be generated for open extents but that of the rows");
}

// w is [blocks, K, n], or of small numbers [blocks, K / terms, n, terms]; the columns beyond `columns` are padding.
absl::StatusOr<std::vector<Func>> LowerGemmPacked(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(context.node));
  const std::vector<Extent> a_extents = context.Extents(context.node.input_type(0));
  const int block = static_cast<int>(gemm.block);
  const int terms = static_cast<int>(gemm.terms);
  const int columns = static_cast<int>(gemm.n);
  const Extent& rows = a_extents[1];
  Var column("column"), row("row");
  // The terms of a sum that is made at once are one step of a dimension of their own.
  Halide::Region steps = {{0, static_cast<int>(gemm.k) / terms}};
  if (terms > 1) steps.insert(steps.begin(), {0, terms});
  const RDom k(steps, "k");
  const Expr step = k[k.dimensions() - 1];
  std::vector<Expr> w_at = {column % block, step, column / block};
  if (terms > 1) w_at.insert(w_at.begin(), k[0]);
  const Expr x = context.inputs[0](terms > 1 ? step * terms + k[0] : step, Within(row, rows));
  const Halide::Type type = gemm.is_integer ? Halide::Int(32) : Halide::Float(32);
  const bool has_bias = context.node.has_input(2);
  Func accumulator("accumulator");
  if (has_bias && gemm.is_integer) {
    // Integers are summed in any order. Of columns that only fill a block there is none.
    accumulator(column, row) = context.inputs[2](Halide::clamp(column, 0, columns - 1));
  } else {
    accumulator(column, row) = Halide::Internal::make_zero(type);
  }
  accumulator(column, row) += Halide::cast(type, x) * Halide::cast(type, context.inputs[1](w_at));
  Func product("gemm");
  Expr value = accumulator(column, row);
  if (has_bias && !gemm.is_integer) value += context.inputs[2](column);
  product(column, row) = value;
  context.anchor = ProductOf({.accumulator = accumulator,
                              .reduction = k,
                              .terms = terms,
                              .columns = columns,
                              .rows = rows.known,
                              .block = block});
  return std::vector<Func>{product};
}

}  // namespace

absl::Status RegisterMatrixLowerings(Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("Gemm", Lowering(LowerGemm).Serving(ServesGemm).Open()));
  SLIPWAY_RETURN_IF_ERROR(
      lowerings.Add("MatMul", Lowering(LowerMatMul).Serving(ServesMatMul).Open()));
  SLIPWAY_RETURN_IF_ERROR(
      lowerings.Add("slipway.IntegerGemm", Lowering(LowerIntegerGemm).Serving(ServesGemm).Open()));
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("slipway.StrassenGemm", LowerStrassenGemm));
  return lowerings.Add("slipway.GemmPacked", Lowering(LowerGemmPacked).Serving(ServesGemm).Open());
}

}  // namespace slipway
