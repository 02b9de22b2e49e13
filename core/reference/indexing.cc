#include "core/operators/indexing.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/kernels/indexing.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Elements(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeElementsAxis(view));
  parameters.Add(axis);
  return absl::OkStatus();
}

absl::Status GatherND(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t batch_dims, DecodeBatchDims(view));
  parameters.Add(batch_dims);
  return absl::OkStatus();
}

absl::Status ScatterND(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const ScatterReduction reduction, DecodeScatterReduction(view));
  parameters.Add(static_cast<int64_t>(reduction));
  return absl::OkStatus();
}

absl::Status ScatterElements(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_RETURN_IF_ERROR(Elements(view, parameters));
  return ScatterND(view, parameters);
}

absl::Status TensorScatter(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const TensorScatterView scatter, DecodeTensorScatter(view));
  parameters.Add(scatter.axis);
  parameters.Add(scatter.circular);
  return absl::OkStatus();
}

absl::Status OneHot(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeOneHotAxis(view));
  parameters.Add(axis);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterIndexingKernels(KernelColumn& kernels) {
  const std::pair<const char*, CallableKernel> rows[] = {
      {"GatherElements", {"slipway_GatherElements", slipway_GatherElements, Elements}},
      {"GatherND", {"slipway_GatherND", slipway_GatherND, GatherND}},
      {"OneHot",
       {"slipway_OneHot", slipway_OneHot, OneHot, "slipway_OneHot_count", slipway_OneHot_count}},
      {"ScatterElements", {"slipway_ScatterElements", slipway_ScatterElements, ScatterElements}},
      {"ScatterND", {"slipway_ScatterND", slipway_ScatterND, ScatterND}},
      {"TensorScatter", {"slipway_TensorScatter", slipway_TensorScatter, TensorScatter}},
  };
  for (const auto& [op, kernel] : rows) SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  return absl::OkStatus();
}

}  // namespace slipway
