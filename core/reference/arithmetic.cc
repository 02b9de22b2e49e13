#include "core/kernels/arithmetic.h"

#include <cmath>
#include <type_traits>

#include "absl/types/span.h"
#include "core/base/status_macros.h"
#include "core/kernels/broadcast.h"
#include "core/reference/dispatch.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

using kernels::BroadcastStrides;
using kernels::Walk;

// Folds the inputs from the left: y = op(op(x0, x1), x2) ...
struct SumOp {
  template <typename T>
  T operator()(T a, T b) const {
    return kernels::Sum(a, b);
  }
};
struct DifferenceOp {
  template <typename T>
  T operator()(T a, T b) const {
    return kernels::Difference(a, b);
  }
};
struct ProductOp {
  template <typename T>
  T operator()(T a, T b) const {
    return kernels::Product(a, b);
  }
};
struct QuotientOp {
  template <typename T>
  T operator()(T a, T b) const {
    return kernels::Quotient(a, b);
  }
};
struct MinimumOp {
  template <typename T>
  T operator()(T a, T b) const {
    return kernels::Minimum(a, b);
  }
};
struct MaximumOp {
  template <typename T>
  T operator()(T a, T b) const {
    return kernels::Maximum(a, b);
  }
};

template <typename Op>
absl::Status Fold(const KernelCall& call) {
  const Tensor& output = call.outputs[0];
  return DispatchNumeric(call, output.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* y = Out<T>(call);
    const Shape strides = RowMajorStrides(output.shape());
    const Shape first = BroadcastStrides(call.inputs[0]->shape(), output.shape());
    const T* x0 = In<T>(call, 0);
    Walk(output.shape(), first, strides, [&](int64_t i, int64_t a, int64_t) { y[i] = x0[a]; });
    for (size_t n = 1; n < call.inputs.size(); ++n) {
      const Shape next = BroadcastStrides(call.inputs[n]->shape(), output.shape());
      const T* x = In<T>(call, static_cast<int>(n));
      Walk(output.shape(), next, strides,
           [&](int64_t i, int64_t a, int64_t) { y[i] = Op()(y[i], x[a]); });
    }
    return absl::OkStatus();
  });
}

absl::Status Divide(const KernelCall& call) {
  const DataType dtype = call.outputs[0].dtype();
  if (dtype != DataType::kFloat32 && dtype != DataType::kFloat64) {
    SLIPWAY_RETURN_IF_ERROR(DispatchNumeric(call, dtype, [&](auto zero) -> absl::Status {
      using T = decltype(zero);
      for (const T divisor : call.inputs[1]->values<T>()) {
        if (divisor == T{0}) return call.view.Error("divides an integer by 0");
      }
      return absl::OkStatus();
    }));
  }
  return Fold<QuotientOp>(call);
}

// The base's type is the result's; integers go by way of f64.
absl::Status Power(const KernelCall& call) {
  const Tensor& output = call.outputs[0];
  const Shape a_strides = BroadcastStrides(call.inputs[0]->shape(), output.shape());
  const Shape b_strides = BroadcastStrides(call.inputs[1]->shape(), output.shape());
  return DispatchNumeric(call, output.dtype(), [&](auto base_zero) {
    using Base = decltype(base_zero);
    return DispatchNumeric(call, call.inputs[1]->dtype(), [&](auto exponent_zero) {
      using Exponent = decltype(exponent_zero);
      const Base* a = In<Base>(call, 0);
      const Exponent* b = In<Exponent>(call, 1);
      Base* y = Out<Base>(call);
      Walk(output.shape(), a_strides, b_strides, [&](int64_t i, int64_t at, int64_t bt) {
        if constexpr (std::is_same_v<Base, float>) {
          y[i] = std::pow(a[at], static_cast<float>(b[bt]));
        } else {
          const double power = std::pow(static_cast<double>(a[at]), static_cast<double>(b[bt]));
          if constexpr (std::is_integral_v<Base>) {
            // What does not fit is not defined by ONNX; saturate rather than overflow.
            constexpr double kLow = static_cast<double>(std::numeric_limits<Base>::lowest());
            constexpr double kHigh = static_cast<double>(std::numeric_limits<Base>::max());
            y[i] = !(power > kLow)  ? std::numeric_limits<Base>::lowest()
                   : power >= kHigh ? std::numeric_limits<Base>::max()
                                    : static_cast<Base>(power);
          } else {
            y[i] = power;
          }
        }
      });
      return absl::OkStatus();
    });
  });
}

}  // namespace

absl::Status RegisterArithmeticKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Add", Fold<SumOp>));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Sub", Fold<DifferenceOp>));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Mul", Fold<ProductOp>));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Div", Divide));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Pow", Power));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Sum", Fold<SumOp>));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("Min", Fold<MinimumOp>));
  return kernels.Add("Max", Fold<MaximumOp>);
}

}  // namespace slipway
