#include "core/operators/matrix.h"

#include "core/base/status_macros.h"
#include "core/kernels/matrix.h"
#include "core/reference/dispatch.h"
#include "core/reference/families.h"
#include "core/reference/strassen.h"
#include "core/tensor/float16.h"

namespace slipway {
namespace {

absl::Status GemmParameters(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("transA") != 0);
  parameters.Add(view.Int("transB") != 0);
  parameters.AddReal(view.Float("alpha"));
  parameters.AddReal(view.Float("beta"));
  return absl::OkStatus();
}

// `read` makes a T of an element of x or w.
template <typename T, typename Element, typename Read>
void MultiplyPacked(const KernelCall& call, const GemmView& gemm, const Element* x,
                    const Element* w, Read read) {
  const T* const bias = In<T>(call, 2);
  T* const y = Out<T>(call);
  for (int64_t i = 0; i < call.outputs[0].shape()[0]; ++i) {
    for (int64_t j = 0; j < gemm.n; ++j) {
      const Element* const panel = w + j / gemm.block * gemm.k * gemm.block;
      const int64_t column = j % gemm.block;
      T sum = bias == nullptr ? T{0} : bias[j];
      for (int64_t p = 0; p < gemm.k; ++p) {
        const int64_t step = p / gemm.terms * gemm.block + column;
        sum += read(x[i * gemm.k + p]) * read(panel[step * gemm.terms + p % gemm.terms]);
      }
      y[i * gemm.n + j] = sum;
    }
  }
}

absl::Status GemmPacked(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(call.view));
  if (call.inputs[0]->dtype() == DataType::kBfloat16) {
    const auto bits = [&call](int i) {
      return reinterpret_cast<const uint16_t*>(call.inputs[i]->bytes().data());
    };
    MultiplyPacked<float>(call, gemm, bits(0), bits(1), Bfloat16ToFloat);
    return absl::OkStatus();
  }
  return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    MultiplyPacked<T>(call, gemm, In<T>(call, 0), In<T>(call, 1), [](T x) { return x; });
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status RegisterMatrixKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("Gemm", CallableKernel{"slipway_Gemm", slipway_Gemm, GemmParameters}));
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("MatMul", CallableKernel{"slipway_MatMul", slipway_MatMul, {}}));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("slipway.StrassenGemm", StrassenGemm));
  return kernels.Add("slipway.GemmPacked", GemmPacked);
}

}  // namespace slipway
