#include "core/kernels/matrix.h"

#include "core/kernels/batch.h"
#include "core/kernels/call.h"
#include "core/kernels/elements.h"

namespace slipway::kernels {
namespace {

// The whole part of a coefficient, for integers; 0 for one that no integer of 64 bits has.
template <typename Wide>
Wide Coefficient(double x) {
  if constexpr (__is_same(Wide, double)) {
    return x;
  } else {
    return x > -0x1p63 && x < 0x1p63 ? static_cast<Wide>(static_cast<int64_t>(x)) : Wide{0};
  }
}

// A matrix seen through strides: element (row, column) is data[row * row_stride + column * column_stride].
template <typename T>
struct MatrixView {
  const T* data;
  int64_t row_stride;
  int64_t column_stride;
};

// sums [n] += row `i` of a [m, k] * b [k, n].
template <typename T>
void AddProducts(int64_t i, int64_t n, int64_t k, const MatrixView<T>& a, const MatrixView<T>& b,
                 WideOf<T>* sums) {
  for (int64_t p = 0; p < k; ++p) {
    const WideOf<T> factor = Widen(a.data[i * a.row_stride + p * a.column_stride]);
    const T* row = b.data + p * b.row_stride;
    for (int64_t j = 0; j < n; ++j) {
      sums[j] = Plus(sums[j], Times(factor, Widen(row[j * b.column_stride])));
    }
  }
}

template <typename T>
int32_t MatMul(const Call& call) {
  const Batch batch(call.input(0), call.input(1));
  const T* a = call.input(0).data<const T>();
  const T* b = call.input(1).data<const T>();
  T* y = call.output(0).data<T>();
  const Scratch<WideOf<T>> sums(call, batch.n);
  if (!sums) return call.Fail(kOutOfScratch);
  for (int64_t product = 0; product < batch.size(); ++product) {
    int64_t a_matrix, b_matrix;
    batch.Locate(product, &a_matrix, &b_matrix);
    const MatrixView<T> left = {a + a_matrix * batch.m * batch.k, batch.k, 1};
    const MatrixView<T> right = {b + b_matrix * batch.k * batch.n, batch.n, 1};
    for (int64_t i = 0; i < batch.m; ++i) {
      for (int64_t j = 0; j < batch.n; ++j) sums[j] = 0;
      AddProducts(i, batch.n, batch.k, left, right, sums.get());
      for (int64_t j = 0; j < batch.n; ++j) *y++ = Narrow<T>(sums[j]);
    }
  }
  return 0;
}

template <typename T>
int32_t Gemm(const Call& call) {
  const bool transpose_a = call.Integer(0) != 0;
  const bool transpose_b = call.Integer(1) != 0;
  const auto alpha = Coefficient<WideOf<T>>(call.Real(2));
  const auto beta = Coefficient<WideOf<T>>(call.Real(3));
  const Operand a = call.input(0);
  const Operand b = call.input(1);
  const Operand c = call.input(2);
  const Operand y = call.output(0);
  const int64_t n = y.extent(1);
  const int64_t k = a.extent(transpose_a ? 0 : 1);
  MatrixView<T> left = {a.data<const T>(), k, 1};
  MatrixView<T> right = {b.data<const T>(), n, 1};
  if (transpose_a) left = {left.data, 1, y.extent(0)};
  if (transpose_b) right = {right.data, 1, k};
  // What c has for a row or column, it has for all of them where its extent is 1.
  const bool by_row = c.present() && c.rank() == 2 && c.extent(0) != 1;
  const bool by_column = c.present() && c.rank() > 0 && c.extent(c.rank() - 1) != 1;
  const Scratch<WideOf<T>> sums(call, n);
  if (!sums) return call.Fail(kOutOfScratch);
  for (int64_t i = 0; i < y.extent(0); ++i) {
    for (int64_t j = 0; j < n; ++j) sums[j] = 0;
    AddProducts(i, n, k, left, right, sums.get());
    for (int64_t j = 0; j < n; ++j) {
      WideOf<T> value = Times(alpha, sums[j]);
      if (c.present()) {
        const int64_t at = (by_row ? i : 0) * (by_column ? n : 1) + (by_column ? j : 0);
        value = Plus(value, Times(beta, Widen(c.data<const T>()[at])));
      }
      y.data<T>()[i * n + j] = Narrow<T>(value);
    }
  }
  return 0;
}

}  // namespace
}  // namespace slipway::kernels

int32_t slipway_MatMul(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  const Call call(arguments);
  return DispatchNumber(call, call.output(0).type(),
                        [&](auto zero) { return MatMul<decltype(zero)>(call); });
}

int32_t slipway_Gemm(void** arguments) {
  using namespace slipway::kernels;  // NOLINT
  const Call call(arguments);
  return DispatchNumber(call, call.output(0).type(),
                        [&](auto zero) { return Gemm<decltype(zero)>(call); });
}
