#include "core/operators/random.h"

#include "core/base/status_macros.h"
#include "core/kernels/random.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Seed(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(static_cast<int64_t>(RandomSeed(view)));
  return absl::OkStatus();
}

absl::Status Normal(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_RETURN_IF_ERROR(Seed(view, parameters));
  parameters.AddReal(view.Float("mean"));
  parameters.AddReal(view.Float("scale"));
  return absl::OkStatus();
}

absl::Status Uniform(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_RETURN_IF_ERROR(Seed(view, parameters));
  parameters.AddReal(view.Float("low"));
  parameters.AddReal(view.Float("high"));
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterRandomKernels(KernelColumn& kernels) {
  const CallableKernel normal = {"slipway_RandomNormal", slipway_RandomNormal, Normal};
  const CallableKernel uniform = {"slipway_RandomUniform", slipway_RandomUniform, Uniform};
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("RandomNormal", normal));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("RandomNormalLike", normal));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("RandomUniform", uniform));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("RandomUniformLike", uniform));
  SLIPWAY_RETURN_IF_ERROR(
      kernels.Add("Bernoulli", CallableKernel{"slipway_Bernoulli", slipway_Bernoulli, Seed}));
  return kernels.Add("Multinomial",
                     CallableKernel{"slipway_Multinomial", slipway_Multinomial, Seed});
}

}  // namespace slipway
