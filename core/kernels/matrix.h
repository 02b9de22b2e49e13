// Matrix products over raw memory, row-major.
#ifndef SLIPWAY_CORE_KERNELS_MATRIX_H_
#define SLIPWAY_CORE_KERNELS_MATRIX_H_

#include <cstdint>

namespace slipway::kernels {

// A matrix seen through strides in elements: element (row, column) is data[row * rs + column * cs].
template <typename T>
struct MatrixView {
  const T* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 1;
};

// y [m, n] += alpha * a [m, k] * b [k, n]; y is dense. Integers wrap around.
template <typename T>
void MultiplyAdd(int64_t m, int64_t n, int64_t k, T alpha, const MatrixView<T>& a,
                 const MatrixView<T>& b, T* y) {
  for (int64_t i = 0; i < m; ++i) {
    T* row = y + i * n;
    for (int64_t p = 0; p < k; ++p) {
      const T factor = alpha * a.data[i * a.row_stride + p * a.column_stride];
      const T* column = b.data + p * b.row_stride;
      if (b.column_stride == 1) {
        for (int64_t j = 0; j < n; ++j) row[j] += factor * column[j];
      } else {
        for (int64_t j = 0; j < n; ++j) row[j] += factor * column[j * b.column_stride];
      }
    }
  }
}

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_MATRIX_H_
