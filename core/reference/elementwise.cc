#include "core/kernels/elementwise.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Copy(const KernelCall& call) {
  call.outputs[0] = *call.inputs[0];
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterElementwiseKernels(KernelColumn& kernels) {
  const struct {
    const char* op;
    slipway_kernel function;
    std::vector<std::string> reals;
  } rows[] = {
      {"Abs", slipway_Abs, {}},
      {"Acos", slipway_Acos, {}},
      {"Acosh", slipway_Acosh, {}},
      {"Asin", slipway_Asin, {}},
      {"Asinh", slipway_Asinh, {}},
      {"Atan", slipway_Atan, {}},
      {"Atanh", slipway_Atanh, {}},
      {"Ceil", slipway_Ceil, {}},
      {"Clip", slipway_Clip, {}},
      {"Cos", slipway_Cos, {}},
      {"Cosh", slipway_Cosh, {}},
      {"Dropout", slipway_Dropout, {}},
      {"Elu", slipway_Elu, {"alpha"}},
      {"Erf", slipway_Erf, {}},
      {"Exp", slipway_Exp, {}},
      {"Floor", slipway_Floor, {}},
      {"HardSigmoid", slipway_HardSigmoid, {"alpha", "beta"}},
      {"HardSwish", slipway_HardSwish, {}},
      {"LeakyRelu", slipway_LeakyRelu, {"alpha"}},
      {"Log", slipway_Log, {}},
      {"Neg", slipway_Neg, {}},
      {"Reciprocal", slipway_Reciprocal, {}},
      {"Relu", slipway_Relu, {}},
      {"Round", slipway_Round, {}},
      {"Sigmoid", slipway_Sigmoid, {}},
      {"Sign", slipway_Sign, {}},
      {"Sin", slipway_Sin, {}},
      {"Sinh", slipway_Sinh, {}},
      {"Sqrt", slipway_Sqrt, {}},
      {"Tan", slipway_Tan, {}},
      {"Tanh", slipway_Tanh, {}},
  };
  for (const auto& [op, function, reals] : rows) {
    SLIPWAY_RETURN_IF_ERROR(kernels.Add(
        op, CallableKernel{absl::StrCat("slipway_", op), function, RealAttributes(reals)}));
  }
  return kernels.Add("Identity", Copy);
}

}  // namespace slipway
