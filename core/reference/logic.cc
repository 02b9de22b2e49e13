#include "core/kernels/logic.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status IsInf(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("detect_negative") != 0);
  parameters.Add(view.Int("detect_positive") != 0);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterLogicKernels(KernelColumn& kernels) {
  const struct {
    const char* op;
    slipway_kernel function;
  } rows[] = {
      {"And", slipway_And},
      {"Equal", slipway_Equal},
      {"Greater", slipway_Greater},
      {"GreaterOrEqual", slipway_GreaterOrEqual},
      {"IsNaN", slipway_IsNaN},
      {"Less", slipway_Less},
      {"LessOrEqual", slipway_LessOrEqual},
      {"Not", slipway_Not},
      {"Or", slipway_Or},
      {"Where", slipway_Where},
      {"Xor", slipway_Xor},
  };
  for (const auto& [op, function] : rows) {
    SLIPWAY_RETURN_IF_ERROR(
        kernels.Add(op, CallableKernel{absl::StrCat("slipway_", op), function, {}}));
  }
  return kernels.Add("IsInf", CallableKernel{"slipway_IsInf", slipway_IsInf, IsInf});
}

}  // namespace slipway
