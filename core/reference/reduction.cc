#include "core/operators/reduction.h"

#include <vector>

#include "core/base/status_macros.h"
#include "core/kernels/arithmetic.h"
#include "core/kernels/broadcast.h"
#include "core/reference/dispatch.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

// Strides that take an input's index to the offset of the output element it goes into.
Shape OutputStrides(const Shape& input, const std::vector<int64_t>& axes) {
  Shape kept = input;
  for (const int64_t axis : axes) kept[axis] = 1;
  return kernels::BroadcastStrides(kept, input);
}

absl::Status Reduce(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const ReduceView reduce, DecodeReduce(call.view));
  const Tensor& input = *call.inputs[0];
  const Shape from = RowMajorStrides(input.shape());
  const Shape to = OutputStrides(input.shape(), reduce.axes);
  const bool is_max = call.view.op() == "ReduceMax";
  const bool is_mean = call.view.op() == "ReduceMean";
  int64_t reduced = 1;
  for (const int64_t axis : reduce.axes) reduced *= input.shape()[axis];
  return DispatchNumeric(call, input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = In<T>(call, 0);
    T* y = Out<T>(call);
    const int64_t outputs = call.outputs[0].num_elements();
    if (is_max) {
      std::vector<bool> seen(outputs, false);
      kernels::Walk(input.shape(), from, to, [&](int64_t i, int64_t, int64_t at) {
        y[at] = seen[at] ? kernels::Maximum(y[at], x[i]) : x[i];
        seen[at] = true;
      });
    } else {
      kernels::Walk(input.shape(), from, to,
                    [&](int64_t i, int64_t, int64_t at) { y[at] = kernels::Sum(y[at], x[i]); });
    }
    if (is_mean) {
      for (int64_t i = 0; i < outputs; ++i) y[i] = kernels::Quotient(y[i], static_cast<T>(reduced));
    }
    return absl::OkStatus();
  });
}

absl::Status ArgMax(const KernelCall& call) {
  SLIPWAY_ASSIGN_OR_RETURN(const ArgMaxView view, DecodeArgMax(call.view));
  const absl::Span<const int64_t> shape = call.view.input_shape(0);
  const int64_t outer = NumElements(shape.subspan(0, view.axis));
  const int64_t extent = shape[view.axis];
  const int64_t inner = NumElements(shape.subspan(view.axis + 1));
  return DispatchNumeric(call, call.inputs[0]->dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = In<T>(call, 0);
    int64_t* y = Out<int64_t>(call);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        int64_t best = 0;
        for (int64_t e = 1; e < extent; ++e) {
          const T candidate = x[(o * extent + e) * inner + i];
          const T highest = x[(o * extent + best) * inner + i];
          if (candidate > highest || (view.select_last && candidate == highest)) best = e;
        }
        y[o * inner + i] = best;
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status RegisterReductionKernels(KernelColumn& kernels) {
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("ReduceMean", Reduce));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("ReduceSum", Reduce));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("ReduceMax", Reduce));
  return kernels.Add("ArgMax", ArgMax);
}

}  // namespace slipway
