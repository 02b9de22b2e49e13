// Sums of terms by constant matrices, as transforms of tiles and of quarters are. Private to this folder.
#ifndef SLIPWAY_CORE_CODEGEN_LOWER_ROW_OF_H_
#define SLIPWAY_CORE_CODEGEN_LOWER_ROW_OF_H_

#include <halide14/Halide.h>

namespace slipway {

// The sum of row[k] * term(k), without the terms that are 0.
template <typename Term>
Halide::Expr Combine(const double* row, int columns, Term term) {
  Halide::Expr sum;
  for (int k = 0; k < columns; ++k) {
    if (row[k] == 0) continue;
    const bool is_negative = row[k] < 0 && sum.defined();
    const auto factor = static_cast<float>(is_negative ? -row[k] : row[k]);
    Halide::Expr product = factor == 1 ? term(k) : factor == -1 ? -term(k) : term(k) * factor;
    if (!sum.defined()) {
      sum = product;
    } else {
      sum = is_negative ? sum - product : sum + product;
    }
  }
  return sum;
}

// The row `index` of a matrix times the column of terms. `index` is unrolled, which leaves one row of each.
template <int kRows, int kColumns, typename Term>
Halide::Expr RowOf(const double (&matrix)[kRows][kColumns], int rows, int columns,
                   const Halide::Expr& index, Term term) {
  Halide::Expr result = Combine(matrix[rows - 1], columns, term);
  for (int r = rows - 2; r >= 0; --r) {
    result = Halide::select(index == r, Combine(matrix[r], columns, term), result);
  }
  return result;
}

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_LOWER_ROW_OF_H_
