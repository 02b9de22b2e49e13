#include "core/operators/reduction.h"

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
  const struct {
    const char* op;
    slipway_kernel function;
    absl::Status (*parameters)(const NodeView&, KernelParameters&);
  } rows[] = {
      {"ReduceL1", slipway_ReduceL1, Reduce},
      {"ReduceL2", slipway_ReduceL2, Reduce},
      {"ReduceLogSum", slipway_ReduceLogSum, Reduce},
      {"ReduceLogSumExp", slipway_ReduceLogSumExp, Reduce},
      {"ReduceMax", slipway_ReduceMax, Reduce},
      {"ReduceMean", slipway_ReduceMean, Reduce},
      {"ReduceMin", slipway_ReduceMin, Reduce},
      {"ReduceProd", slipway_ReduceProd, Reduce},
      {"ReduceSum", slipway_ReduceSum, Reduce},
      {"ReduceSumSquare", slipway_ReduceSumSquare, Reduce},
      {"ArgMax", slipway_ArgMax, ArgBest},
      {"ArgMin", slipway_ArgMin, ArgBest},
      {"CumProd", slipway_CumProd, Cumulate},
      {"CumSum", slipway_CumSum, Cumulate},
  };
  for (const auto& [op, function, parameters] : rows) {
    CallableKernel kernel{absl::StrCat("slipway_", op), function, parameters};
    if (parameters == Reduce) {
      kernel.extents_symbol = "slipway_Reduce_extents";
      kernel.extents = slipway_Reduce_extents;
      kernel.finds = CallableKernel::Finds::kEvery;
    }
    SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  }
  return absl::OkStatus();
}

}  // namespace slipway
