#include "core/operators/normalization.h"

#include "absl/types/span.h"
#include "core/base/status_macros.h"
#include "core/kernels/normalization.h"
#include "core/reference/dispatch.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

// A shape as [outer, extent, inner] around an axis.
struct AroundAxis {
  AroundAxis(absl::Span<const int64_t> shape, int64_t axis)
      : outer(NumElements(shape.subspan(0, axis))),
        extent(shape[axis]),
        inner(NumElements(shape.subspan(axis + 1))) {}
  int64_t outer;
  int64_t extent;
  int64_t inner;
};

absl::Status BatchNormalization(const KernelCall& call) {
  const AroundAxis x(call.view.input_shape(0), 1);
  return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::BatchNormalization(x.outer, x.extent, x.inner, In<T>(call, 0), In<T>(call, 1),
                                In<T>(call, 2), In<T>(call, 3), In<T>(call, 4),
                                static_cast<T>(call.view.Float("epsilon")), Out<T>(call));
    return absl::OkStatus();
  });
}

absl::Status Lrn(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const LrnView lrn, DecodeLrn(call.view));
  const AroundAxis x(call.view.input_shape(0), 1);
  return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::Lrn(x.outer, x.extent, x.inner, lrn.size, static_cast<T>(lrn.alpha),
                 static_cast<T>(lrn.beta), static_cast<T>(lrn.bias), In<T>(call, 0), Out<T>(call));
    return absl::OkStatus();
  });
}

absl::Status Softmax(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeSoftmax(call.view));
  const AroundAxis x(call.view.input_shape(0), axis);
  return DispatchFloat(call, call.outputs[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::Softmax(x.outer, x.extent, x.inner, In<T>(call, 0), Out<T>(call));
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status RegisterNormalizationKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("BatchNormalization", BatchNormalization));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("LRN", Lrn));
  return kernels.Add("Softmax", Softmax);
}

}  // namespace slipway
