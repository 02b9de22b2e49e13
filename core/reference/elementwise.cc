#include "core/operators/elementwise.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "core/base/status_macros.h"
#include "core/kernels/elementwise.h"
#include "core/reference/dispatch.h"
#include "core/reference/families.h"
#include "core/tensor/float16.h"

namespace slipway {
namespace {

// y = function(x) over elements of a float type. The function is generic.
template <typename Function>
Kernel MapFloat(Function function) {
  return [function](const KernelCall& call) {
    return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::Map(call.outputs[0].num_elements(), In<T>(call, 0), Out<T>(call),
                   [&](T x) { return function(x); });
      return absl::OkStatus();
    });
  };
}

template <typename Function>
Kernel MapNumeric(Function function) {
  return [function](const KernelCall& call) {
    return DispatchNumeric(call, call.outputs[0].dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::Map(call.outputs[0].num_elements(), In<T>(call, 0), Out<T>(call), function);
      return absl::OkStatus();
    });
  };
}

absl::Status LeakyRelu(const KernelCall& call) {
  return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T alpha = static_cast<T>(call.view.Float("alpha"));
    kernels::Map(call.outputs[0].num_elements(), In<T>(call, 0), Out<T>(call),
                 [alpha](T x) { return kernels::LeakyRelu(x, alpha); });
    return absl::OkStatus();
  });
}

absl::Status Elu(const KernelCall& call) {
  return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T alpha = static_cast<T>(call.view.Float("alpha"));
    kernels::Map(call.outputs[0].num_elements(), In<T>(call, 0), Out<T>(call),
                 [alpha](T x) { return kernels::Elu(x, alpha); });
    return absl::OkStatus();
  });
}

absl::Status HardSigmoid(const KernelCall& call) {
  return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T alpha = static_cast<T>(call.view.Float("alpha"));
    const T beta = static_cast<T>(call.view.Float("beta"));
    kernels::Map(call.outputs[0].num_elements(), In<T>(call, 0), Out<T>(call),
                 [=](T x) { return kernels::HardSigmoid(x, alpha, beta); });
    return absl::OkStatus();
  });
}

absl::Status Clip(const KernelCall& call) {
  return DispatchNumeric(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* low = In<T>(call, 1);
    const T* high = In<T>(call, 2);
    const bool endless = std::numeric_limits<T>::has_infinity;
    const T lowest =
        endless ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
    const T highest = endless ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    kernels::Map(call.outputs[0].num_elements(), In<T>(call, 0), Out<T>(call), [&](T x) {
      return kernels::Clip(x, low == nullptr ? lowest : *low, high == nullptr ? highest : *high);
    });
    return absl::OkStatus();
  });
}

absl::Status Copy(const KernelCall& call) {
  call.outputs[0] = *call.inputs[0];
  return absl::OkStatus();
}

// The mask of an idle Dropout keeps everything.
absl::Status Dropout(const KernelCall& call) {
  call.outputs[0] = *call.inputs[0];
  if (call.outputs.size() > 1 && call.outputs[1].is_set()) {
    for (bool& kept : call.outputs[1].mutable_values<bool>()) kept = true;
  }
  return absl::OkStatus();
}

// Casts go through a number that holds every value of the source.
template <typename To, typename From>
To Convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From{0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Out of range is not defined by ONNX; saturate, and NaN is 0.
    if (x != x) return To{0};
    if (x <= static_cast<From>(std::numeric_limits<To>::lowest())) {
      return std::numeric_limits<To>::lowest();
    }
    if (x >= static_cast<From>(std::numeric_limits<To>::max())) {
      return std::numeric_limits<To>::max();
    }
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <typename From, typename Load>
absl::Status CastFrom(const KernelCall& call, const From* x, Load load) {
  Tensor& output = call.outputs[0];
  const int64_t count = output.num_elements();
  switch (output.dtype()) {
    case DataType::kBool:
      kernels::Map(count, x, output.mutable_values<bool>().data(),
                   [&](From v) { return Convert<bool>(load(v)); });
      return absl::OkStatus();
    case DataType::kFloat16:
    case DataType::kBfloat16: {
      const auto narrow = output.dtype() == DataType::kFloat16 ? FloatToFloat16 : FloatToBfloat16;
      kernels::Map(count, x, reinterpret_cast<uint16_t*>(output.mutable_bytes()),
                   [&](From v) { return narrow(Convert<float>(load(v))); });
      return absl::OkStatus();
    }
    default:
      return DispatchNumeric(call, output.dtype(), [&](auto zero) {
        using To = decltype(zero);
        kernels::Map(count, x, Out<To>(call), [&](From v) { return Convert<To>(load(v)); });
        return absl::OkStatus();
      });
  }
}

absl::Status Cast(const KernelCall& call) {
  const Tensor& input = *call.inputs[0];
  switch (input.dtype()) {
    case DataType::kBool:
      return CastFrom(call, input.values<bool>().data(),
                      [](bool v) { return static_cast<uint8_t>(v); });
    case DataType::kFloat16:
      return CastFrom(call, reinterpret_cast<const uint16_t*>(input.bytes().data()),
                      Float16ToFloat);
    case DataType::kBfloat16:
      return CastFrom(call, reinterpret_cast<const uint16_t*>(input.bytes().data()),
                      Bfloat16ToFloat);
    default:
      return DispatchNumeric(call, input.dtype(), [&](auto zero) {
        using From = decltype(zero);
        return CastFrom(call, In<From>(call, 0), [](From v) { return v; });
      });
  }
}

}  // namespace

absl::Status RegisterElementwiseKernels(KernelColumn& kernels) {
  const struct {
    const char* op;
    Kernel kernel;
  } rows[] = {
      {"Relu", MapNumeric([](auto x) { return kernels::Relu(x); })},
      {"Neg", MapNumeric([](auto x) { return kernels::Negative(x); })},
      {"Abs", MapNumeric([](auto x) { return kernels::Absolute(x); })},
      {"Sigmoid", MapFloat([](auto x) { return kernels::Sigmoid(x); })},
      {"Tanh", MapFloat([](auto x) { return std::tanh(x); })},
      {"Exp", MapFloat([](auto x) { return std::exp(x); })},
      {"Log", MapFloat([](auto x) { return std::log(x); })},
      {"Sqrt", MapFloat([](auto x) { return std::sqrt(x); })},
      {"HardSwish", MapFloat([](auto x) { return kernels::HardSwish(x); })},
      {"LeakyRelu", LeakyRelu},
      {"Elu", Elu},
      {"HardSigmoid", HardSigmoid},
      {"Clip", Clip},
      {"Identity", Copy},
      {"Dropout", Dropout},
      {"Cast", Cast},
  };
  for (const auto& row : rows) SLIPWAY_RETURN_IF_ERROR(kernels.Add(row.op, row.kernel));
  return absl::OkStatus();
}

}  // namespace slipway
