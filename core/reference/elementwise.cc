#include "core/operators/elementwise.h"

#include <cmath>
#include <limits>

#include "core/base/status_macros.h"
#include "core/kernels/elementwise.h"
#include "core/reference/dispatch.h"
#include "core/reference/families.h"

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
  };
  for (const auto& row : rows) SLIPWAY_RETURN_IF_ERROR(kernels.Add(row.op, row.kernel));
  return absl::OkStatus();
}

}  // namespace slipway
