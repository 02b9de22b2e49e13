#include "core/operators/reduction.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/kernels/reduction.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Reduce(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("keepdims") != 0);
  parameters.Add(view.Int("noop_with_empty_axes") != 0);
  return absl::OkStatus();
}

absl::Status ArgBest(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const ArgMaxView best, DecodeArgMax(view));
  parameters.Add(best.axis);
  parameters.Add(best.select_last);
  return absl::OkStatus();
}

absl::Status Cumulate(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(view.Int("exclusive") != 0);
  parameters.Add(view.Int("reverse") != 0);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterReductionKernels(KernelColumn& kernels) {
  const std::pair<const char*, slipway_kernel> reductions[] = {
      {"ReduceL1", slipway_ReduceL1},         {"ReduceL2", slipway_ReduceL2},
      {"ReduceLogSum", slipway_ReduceLogSum}, {"ReduceLogSumExp", slipway_ReduceLogSumExp},
      {"ReduceMax", slipway_ReduceMax},       {"ReduceMean", slipway_ReduceMean},
      {"ReduceMin", slipway_ReduceMin},       {"ReduceProd", slipway_ReduceProd},
      {"ReduceSum", slipway_ReduceSum},       {"ReduceSumSquare", slipway_ReduceSumSquare},
  };
  for (const auto& [op, function] : reductions) {
    SLIPWAY_RETURN_IF_ERROR(kernels.Add(
        op, CallableKernel{absl::StrCat("slipway_", op), function, Reduce, "slipway_Reduce_extents",
                           slipway_Reduce_extents, CallableKernel::Finds::kEvery}));
  }
  const std::pair<const char*, CallableKernel> along_one[] = {
      {"ArgMax", {"slipway_ArgMax", slipway_ArgMax, ArgBest}},
      {"ArgMin", {"slipway_ArgMin", slipway_ArgMin, ArgBest}},
      {"CumProd", {"slipway_CumProd", slipway_CumProd, Cumulate}},
      {"CumSum", {"slipway_CumSum", slipway_CumSum, Cumulate}},
  };
  for (const auto& [op, kernel] : along_one) SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  return absl::OkStatus();
}

}  // namespace slipway
