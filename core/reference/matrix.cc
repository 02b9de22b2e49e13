#include "core/operators/matrix.h"

#include "core/base/status_macros.h"
#include "core/kernels/matrix.h"
#include "core/reference/dispatch.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status GemmParameters(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("transA") != 0);
  parameters.Add(view.Int("transB") != 0);
  parameters.AddReal(view.Float("alpha"));
  parameters.AddReal(view.Float("beta"));
  return absl::OkStatus();
}

absl::Status GemmPacked(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(call.view));
  const int64_t rows = call.outputs[0].shape()[0];
  return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = In<T>(call, 0);
    const T* w = In<T>(call, 1);
    const T* bias = In<T>(call, 2);
    T* y = Out<T>(call);
    for (int64_t i = 0; i < rows; ++i) {
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

}  // namespace

absl::Status RegisterMatrixKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("Gemm", CallableKernel{"slipway_Gemm", slipway_Gemm, GemmParameters}));
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("MatMul", CallableKernel{"slipway_MatMul", slipway_MatMul, {}}));
  return kernels.Add("slipway.GemmPacked", GemmPacked);
}

}  // namespace slipway
