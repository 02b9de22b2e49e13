#include "core/operators/pooling.h"

#include "core/base/status_macros.h"
#include "core/kernels/pooling.h"
#include "core/reference/dispatch.h"
#include "core/reference/families.h"
#include "core/reference/window_dimensions.h"

namespace slipway {
namespace {

absl::Status Run(const KernelCall& call, bool is_max, const kernels::PoolingShape& shape) {
  return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto kernel = is_max ? kernels::MaxPool<T> : kernels::AveragePool<T>;
    kernel(shape, In<T>(call, 0), Out<T>(call));
    return absl::OkStatus();
  });
}

absl::Status Pool(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const PoolView pool, DecodePool(call.view));
  const Shape& x = call.view.input_shape(0);
  kernels::PoolingShape shape;
  shape.planes = x[0] * x[1];
  shape.block = pool.blocked ? x[4] : 1;
  shape.count_include_pad = pool.count_include_pad;
  SetWindow(pool.window, shape);
  return Run(call, pool.is_max, shape);
}

absl::Status GlobalPool(const KernelCall& call) {
  const Shape& x = call.view.input_shape(0);
  kernels::PoolingShape shape;
  shape.planes = x[0] * x[1];
  // All spatial dimensions as one.
  shape.width.input = 1;
  for (size_t d = 2; d < x.size(); ++d) shape.width.input *= x[d];
  shape.width.kernel = shape.width.input;
  return Run(call, call.view.op() == "GlobalMaxPool", shape);
}

}  // namespace

absl::Status RegisterPoolingKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("MaxPool", Pool));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("AveragePool", Pool));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("slipway.MaxPoolNCHWc", Pool));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("slipway.AveragePoolNCHWc", Pool));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("GlobalAveragePool", GlobalPool));
  return kernels.Add("GlobalMaxPool", GlobalPool);
}

}  // namespace slipway
