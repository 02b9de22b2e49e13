#include "core/kernels/bits.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/bits.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status BitShift(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const bool right, DecodeBitShift(view));
  parameters.Add(right);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterBitsKernels(KernelColumn& kernels) {
  const struct {
    const char* op;
    slipway_kernel function;
  } rows[] = {
      {"BitCast", slipway_BitCast},       {"BitwiseAnd", slipway_BitwiseAnd},
      {"BitwiseNot", slipway_BitwiseNot}, {"BitwiseOr", slipway_BitwiseOr},
      {"BitwiseXor", slipway_BitwiseXor},
  };
  for (const auto& [op, function] : rows) {
    SLIPWAY_RETURN_IF_ERROR(
        kernels.Add(op, CallableKernel{absl::StrCat("slipway_", op), function, {}}));
  }
  return kernels.Add("BitShift", CallableKernel{"slipway_BitShift", slipway_BitShift, BitShift});
}

}  // namespace slipway
