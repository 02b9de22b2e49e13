#include "core/operators/matrix.h"

#include <type_traits>

#include "core/base/status_macros.h"
#include "core/kernels/broadcast.h"
#include "core/kernels/matrix.h"
#include "core/reference/dispatch.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

using kernels::BroadcastStrides;
using kernels::MatrixView;
using kernels::MultiplyAdd;
using kernels::Walk;

absl::Status Gemm(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(call.view));
  return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* y = Out<T>(call);
    if (gemm.has_c) {
      const Shape result = {gemm.m, gemm.n};
      const Shape strides = BroadcastStrides(call.inputs[2]->shape(), result);
      const T* c = In<T>(call, 2);
      Walk(result, strides, strides,
           [&](int64_t i, int64_t at, int64_t) { y[i] = static_cast<T>(gemm.beta) * c[at]; });
    }
    MatrixView<T> a{In<T>(call, 0), gemm.k, 1};
    MatrixView<T> b{In<T>(call, 1), gemm.n, 1};
    if (gemm.transpose_a) a = {a.data, 1, gemm.m};
    if (gemm.transpose_b) b = {b.data, 1, gemm.k};
    MultiplyAdd<T>(gemm.m, gemm.n, gemm.k, static_cast<T>(gemm.alpha), a, b, y);
    return absl::OkStatus();
  });
}

absl::Status GemmPacked(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(call.view));
  return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = In<T>(call, 0);
    const T* w = In<T>(call, 1);
    const T* bias = In<T>(call, 2);
    T* y = Out<T>(call);
    for (int64_t i = 0; i < gemm.m; ++i) {
      for (int64_t j = 0; j < gemm.n; ++j) {
        const T* column = w + j / gemm.block * gemm.k * gemm.block + j % gemm.block;
        T sum = bias == nullptr ? T{0} : bias[j];
        for (int64_t p = 0; p < gemm.k; ++p) sum += x[i * gemm.k + p] * column[p * gemm.block];
        y[i * gemm.n + j] = sum;
      }
    }
    return absl::OkStatus();
  });
}

// Integers are multiplied as unsigned ones, which wrap around to the same bits.
template <typename T, bool kIsInteger = std::is_integral_v<T>>
struct Wrapping {
  using Type = T;
};
template <typename T>
struct Wrapping<T, true> {
  using Type = std::make_unsigned_t<T>;
};

absl::Status MatMul(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const MatMulView product, DecodeMatMul(call.view));
  const absl::Span<const int64_t> a_shape = call.view.input_shape(0);
  const absl::Span<const int64_t> b_shape = call.view.input_shape(1);
  const Shape a_strides = BroadcastStrides(
      a_shape.subspan(0, product.a_is_vector ? 0 : a_shape.size() - 2), product.batch);
  const Shape b_strides = BroadcastStrides(
      b_shape.subspan(0, product.b_is_vector ? 0 : b_shape.size() - 2), product.batch);
  return DispatchNumeric(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = typename Wrapping<decltype(zero)>::Type;
    const T* a = reinterpret_cast<const T*>(call.inputs[0]->bytes().data());
    const T* b = reinterpret_cast<const T*>(call.inputs[1]->bytes().data());
    T* y = reinterpret_cast<T*>(call.outputs[0].mutable_bytes());
    Walk(product.batch, a_strides, b_strides, [&](int64_t i, int64_t a_at, int64_t b_at) {
      MultiplyAdd<T>(
          product.m, product.n, product.k, T{1}, {a + a_at * product.m * product.k, product.k, 1},
          {b + b_at * product.k * product.n, product.n, 1}, y + i * product.m * product.n);
    });
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status RegisterMatrixKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Gemm", Gemm));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("MatMul", MatMul));
  return kernels.Add("slipway.GemmPacked", GemmPacked);
}

}  // namespace slipway
