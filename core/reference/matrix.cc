#include "core/operators/matrix.h"

#include <cstdint>
#include <type_traits>

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

// `read_x` makes a Sum of an element of x, `read_w` of w. Sum is y's type, or that unsigned, in which integers wrap around.
template <typename Sum, typename X, typename W, typename ReadX, typename ReadW>
void MultiplyPacked(const KernelCall& call, const GemmView& gemm, const X* x, const W* w,
                    ReadX read_x, ReadW read_w) {
  using T = std::conditional_t<std::is_floating_point_v<Sum>, Sum, int32_t>;
  const T* const bias = In<T>(call, 2);
  T* const y = Out<T>(call);
  for (int64_t i = 0; i < call.outputs[0].shape()[0]; ++i) {
    for (int64_t j = 0; j < gemm.n; ++j) {
      const W* const panel = w + j / gemm.block * gemm.k * gemm.block;
      const int64_t column = j % gemm.block;
      Sum sum = bias == nullptr ? Sum{0} : static_cast<Sum>(bias[j]);
      for (int64_t p = 0; p < gemm.k; ++p) {
        const int64_t step = p / gemm.terms * gemm.block + column;
        sum += read_x(x[i * gemm.k + p]) * read_w(panel[step * gemm.terms + p % gemm.terms]);
      }
      y[i * gemm.n + j] = static_cast<T>(sum);
    }
  }
}

uint32_t Wrapping(int32_t x) { return static_cast<uint32_t>(x); }

template <typename X, typename W>
void MultiplyPackedIntegers(const KernelCall& call, const GemmView& gemm) {
  MultiplyPacked<uint32_t>(call, gemm, In<X>(call, 0), In<W>(call, 1), Wrapping, Wrapping);
}

absl::Status GemmPacked(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(call.view));
  switch (call.inputs[0]->dtype()) {
    case DataType::kBfloat16: {
      const auto bits = [&call](int i) {
        return reinterpret_cast<const uint16_t*>(call.inputs[i]->bytes().data());
      };
      MultiplyPacked<float>(call, gemm, bits(0), bits(1), Bfloat16ToFloat, Bfloat16ToFloat);
      return absl::OkStatus();
    }
    case DataType::kInt16:
      MultiplyPackedIntegers<int16_t, int16_t>(call, gemm);
      return absl::OkStatus();
    case DataType::kUint8:
      MultiplyPackedIntegers<uint8_t, int8_t>(call, gemm);
      return absl::OkStatus();
    default:
      return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
        using T = decltype(zero);
        const auto read = [](T x) { return x; };
        MultiplyPacked<T>(call, gemm, In<T>(call, 0), In<T>(call, 1), read, read);
        return absl::OkStatus();
      });
  }
}

// Its w is one panel of all columns.
absl::Status IntegerGemm(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(GemmView gemm, DecodeGemm(call.view));
  gemm.block = gemm.n;
  MultiplyPackedIntegers<int16_t, int16_t>(call, gemm);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterMatrixKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("Gemm", CallableKernel{"slipway_Gemm", slipway_Gemm, GemmParameters}));
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("MatMul", CallableKernel{"slipway_MatMul", slipway_MatMul, {}}));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("slipway.IntegerGemm", IntegerGemm));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("slipway.StrassenGemm", StrassenGemm));
  return kernels.Add("slipway.GemmPacked", GemmPacked);
}

}  // namespace slipway
