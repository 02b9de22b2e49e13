// Batch: how the matrices of two operands meet where the dimensions before the last two broadcast. Freestanding: see
// call.h.
#ifndef SLIPWAY_CORE_KERNELS_BATCH_H_
#define SLIPWAY_CORE_KERNELS_BATCH_H_

#include <stdint.h>

#include "core/kernels/call.h"

namespace slipway::kernels {

// Products of a [..., m, k] and b [..., k, n] as ONNX's MatMul has them: a vector is a row on the left and a column on
// the right.
class Batch {
 public:
  Batch(const Operand& a, const Operand& b)
      : a_(a),
        b_(b),
        a_rank_(a.rank() > 1 ? a.rank() - 2 : 0),
        b_rank_(b.rank() > 1 ? b.rank() - 2 : 0),
        m(a.rank() > 1 ? a.extent(a.rank() - 2) : 1),
        n(b.rank() > 1 ? b.extent(b.rank() - 1) : 1),
        k(a.extent(a.rank() - 1)) {}

  // How many products there are.
  int64_t size() const {
    int64_t size = 1;
    for (int d = 1; d <= (a_rank_ > b_rank_ ? a_rank_ : b_rank_); ++d) size *= Extent(d);
    return size;
  }
  // The places of the product's matrices among those of their operands.
  void Locate(int64_t product, int64_t* a, int64_t* b) const {
    int64_t a_stride = 1;
    int64_t b_stride = 1;
    *a = *b = 0;
    for (int d = 1; d <= (a_rank_ > b_rank_ ? a_rank_ : b_rank_); ++d) {
      const int64_t index = product % Extent(d);
      product /= Extent(d);
      if (A(d) != 1) *a += index * a_stride;
      if (B(d) != 1) *b += index * b_stride;
      a_stride *= A(d);
      b_stride *= B(d);
    }
  }

 private:
  // Extents of the d-th dimension from the last one of the batch on.
  int64_t A(int d) const { return d <= a_rank_ ? a_.extent(a_rank_ - d) : 1; }
  int64_t B(int d) const { return d <= b_rank_ ? b_.extent(b_rank_ - d) : 1; }
  int64_t Extent(int d) const { return A(d) == 1 ? B(d) : A(d); }

  Operand a_;
  Operand b_;
  int a_rank_;
  int b_rank_;

 public:
  const int64_t m;
  const int64_t n;
  const int64_t k;
};

}  // namespace slipway::kernels

#endif  // SLIPWAY_CORE_KERNELS_BATCH_H_
