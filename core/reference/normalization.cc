#include "core/operators/normalization.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/kernels/normalization.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status BatchNormalization(const NodeView& view, KernelParameters& parameters) {
  parameters.AddReal(view.Float("epsilon"));
  parameters.AddReal(view.Float("momentum"));
  parameters.Add(view.Int("training_mode") != 0);
  return absl::OkStatus();
}

absl::Status GroupNormalization(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t groups, DecodeGroupNormalization(view));
  parameters.AddReal(view.Float("epsilon"));
  parameters.Add(groups);
  return absl::OkStatus();
}

absl::Status LayerNormalization(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeLayerNormalization(view));
  parameters.AddReal(view.Float("epsilon"));
  parameters.Add(axis);
  return absl::OkStatus();
}

absl::Status LpNormalization(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const LpNormalizationView norm, DecodeLpNormalization(view));
  parameters.Add(norm.axis);
  parameters.Add(norm.order);
  return absl::OkStatus();
}

absl::Status Lrn(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const LrnView lrn, DecodeLrn(view));
  for (const float real : {lrn.alpha, lrn.beta, lrn.bias}) parameters.AddReal(real);
  parameters.Add(lrn.size);
  return absl::OkStatus();
}

absl::Status MeanVarianceNormalization(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, DecodeMeanVarianceNormalization(view));
  parameters.Add(static_cast<int64_t>(axes.size()));
  parameters.AddAll(axes);
  return absl::OkStatus();
}

absl::Status Softmax(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeSoftmax(view));
  parameters.Add(axis);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterNormalizationKernels(KernelColumn& kernels) {
  const struct {
    const char* op;
    slipway_kernel function;
    ParametersFunction parameters;
  } rows[] = {
      {"BatchNormalization", slipway_BatchNormalization, BatchNormalization},
      {"GroupNormalization", slipway_GroupNormalization, GroupNormalization},
      {"Hardmax", slipway_Hardmax, Softmax},
      {"InstanceNormalization", slipway_InstanceNormalization, RealAttributes({"epsilon"})},
      {"LRN", slipway_LRN, Lrn},
      {"LayerNormalization", slipway_LayerNormalization, LayerNormalization},
      {"LogSoftmax", slipway_LogSoftmax, Softmax},
      {"LpNormalization", slipway_LpNormalization, LpNormalization},
      {"MeanVarianceNormalization", slipway_MeanVarianceNormalization, MeanVarianceNormalization},
      {"RMSNormalization", slipway_RMSNormalization, LayerNormalization},
      {"Softmax", slipway_Softmax, Softmax},
  };
  for (const auto& [op, function, parameters] : rows) {
    SLIPWAY_RETURN_IF_ERROR(
        kernels.Add(op, CallableKernel{absl::StrCat("slipway_", op), function, parameters}));
  }
  return absl::OkStatus();
}

}  // namespace slipway
