// Matrix products: MatMul (with batch dimensions), Gemm, slipway.IntegerGemm, slipway.GemmPacked, slipway.StrassenGemm.
//
// slipway.IntegerGemm: x [M, K] and w [K, N] in i16; y [M, N] in i32, whose sums wrap around. Quantized matrices less their zero
// points are such (core/passes/fold_quantization_pass.h).
//
// slipway.GemmPacked: x [M, K]; w [ceil(columns/n), K, n], columns of the right matrix in blocks of n,
// zero where the last block is not full; bias [columns], optional; y [M, columns] = x * w + bias.
// The attribute `columns` is the number of real columns. Of small numbers w has terms innermost, which are multiplied and added at
// once, [ceil(columns/n), K/terms, n, terms], and terms divide K (small_numbers.h): of x and w in bf16 two, where bias and y are
// f32; in i16 two, where y is i32 and there is no bias; of x in u8 and w in i8 four, where bias and y are i32. Sums in i32 wrap around.
//
// slipway.StrassenGemm: the same product of f32 by seven of half its extents (strassen.h): x [M, K]; w [N/2/n, 7, K/2, n], sums of
// quarters of the right matrix, whose blocks of n columns are of the left and of the right ones in turn; bias [N], optional; y [M, N]. K and N are even.
#ifndef SLIPWAY_CORE_OPERATORS_MATRIX_H_
#define SLIPWAY_CORE_OPERATORS_MATRIX_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Any but MatMul: y = alpha * op(a) * op(b) + beta * c.
// Extent is int64_t, or Dimension where types are inferred and an extent may be open.
template <typename Extent>
struct BasicGemmView {
  Extent m = 0;
  Extent n = 0;
  Extent k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
  float alpha = 1;
  float beta = 1;
  bool has_c = false;  // Input 2; it broadcasts to [m, n].
  int64_t block = 0;   // Columns a block of w; 0 for Gemm.
  int64_t terms = 1;   // Innermost extent of w where it is packed by several steps of the depth.
  bool is_integer = false;  // y is i32.
};
using GemmView = BasicGemmView<int64_t>;
inline constexpr int64_t kOpenRows = -1;  // GemmView::m where it is not known.
// UNIMPLEMENTED where n or k is open.
absl::StatusOr<GemmView> DecodeGemm(const NodeView& view);

template <typename Extent>
struct BasicMatMulView {
  std::vector<Extent> batch;  // The broadcast batch dimensions of the output.
  Extent m = 0;
  Extent n = 0;
  Extent k = 0;
  bool a_is_vector = false;  // Rank 1: m is 1 and missing from the output's shape.
  bool b_is_vector = false;  // Rank 1: n is 1 and missing from the output's shape.
};
using MatMulView = BasicMatMulView<int64_t>;
// UNIMPLEMENTED where an extent is open.
absl::StatusOr<MatMulView> DecodeMatMul(const NodeView& view);

absl::Status RegisterMatrixOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_MATRIX_H_
