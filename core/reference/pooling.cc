#include "core/operators/pooling.h"

#include <utility>

#include "core/base/status_macros.h"
#include "core/kernels/pooling.h"
#include "core/reference/families.h"
#include "core/reference/window_parameters.h"

namespace slipway {
namespace {

absl::Status Pool(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const PoolView pool, DecodePool(view));
  const kernels::Pooling kind = pool.is_max  ? kernels::Pooling::kMax
                                : pool.p > 0 ? kernels::Pooling::kLp
                                             : kernels::Pooling::kAverage;
  parameters.Add(static_cast<int64_t>(kind));
  parameters.Add(pool.blocked ? view.input_type(0).dimension(4).extent() : 1);
  parameters.Add(pool.count_include_pad);
  parameters.Add(view.has("storage_order") && view.Int("storage_order") != 0);
  parameters.Add(pool.p);
  AddWindow(pool.window, parameters);
  return absl::OkStatus();
}

template <kernels::Pooling kind>
absl::Status GlobalPool(const NodeView& view, KernelParameters& parameters) {
  parameters.Add(static_cast<int64_t>(kind));
  parameters.Add(view.has("p") ? view.Int("p") : 0);
  return absl::OkStatus();
}

absl::Status MaxUnpool(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const UnpoolView unpool, DecodeMaxUnpool(view));
  parameters.Add(static_cast<int64_t>(unpool.strides.size()));
  for (size_t d = 0; d < unpool.strides.size(); ++d) {
    parameters.Add(unpool.strides[d]);
    parameters.Add(unpool.rests[d]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterPoolingKernels(KernelColumn& kernels) {
  const CallableKernel pool = {"slipway_Pool", slipway_Pool, Pool};
  const auto global = [](auto parameters) {
    return CallableKernel{"slipway_GlobalPool", slipway_GlobalPool, parameters};
  };
  const std::pair<const char*, CallableKernel> rows[] = {
      {"AveragePool", pool},
      {"GlobalAveragePool", global(GlobalPool<kernels::Pooling::kAverage>)},
      {"GlobalLpPool", global(GlobalPool<kernels::Pooling::kLp>)},
      {"GlobalMaxPool", global(GlobalPool<kernels::Pooling::kMax>)},
      {"LpPool", pool},
      {"MaxPool", pool},
      {"MaxUnpool",
       {"slipway_MaxUnpool", slipway_MaxUnpool, MaxUnpool, "slipway_MaxUnpool_extents",
        slipway_MaxUnpool_extents, CallableKernel::Finds::kEvery}},
      {"slipway.AveragePoolNCHWc", pool},
      {"slipway.MaxPoolNCHWc", pool},
  };
  for (const auto& [op, kernel] : rows) SLIPWAY_RETURN_IF_ERROR(kernels.Add(op, kernel));
  return absl::OkStatus();
}

}  // namespace slipway
