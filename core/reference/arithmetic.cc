#include "core/kernels/arithmetic.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Mod(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("fmod") != 0);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterArithmeticKernels(KernelColumn& kernels) {
  const struct {
    const char* op;
    slipway_kernel function;
  } rows[] = {
      {"Add", slipway_Add}, {"Div", slipway_Div},   {"Max", slipway_Max},
      {"Min", slipway_Min}, {"Mean", slipway_Mean}, {"Mul", slipway_Mul},
      {"Pow", slipway_Pow}, {"Sub", slipway_Sub},   {"Sum", slipway_Sum},
  };
  for (const auto& [op, function] : rows) {
    SLIPWAY_RETURN_IF_ERROR(
        kernels.Add(op, CallableKernel{absl::StrCat("slipway_", op), function, {}}));
  }
  return kernels.Add("Mod", CallableKernel{"slipway_Mod", slipway_Mod, Mod});
}

}  // namespace slipway
