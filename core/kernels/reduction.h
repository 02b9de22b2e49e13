// Kernels that reduce dimensions, or go along one. Callable: see call.h.
//
// Floats are accumulated in f64, in the order in which elements lie in memory, and rounded at the end; integers wrap
// around. What is NaN makes its result NaN.
#ifndef SLIPWAY_CORE_KERNELS_REDUCTION_H_
#define SLIPWAY_CORE_KERNELS_REDUCTION_H_

#include <stdint.h>

extern "C" {
// Inputs: x, the axes (or omitted). Output: x reduced over these. Parameters: whether they stay as dimensions of 1, whether
// no axes are none and not all. Of no elements, the result is what changes nothing: 0, 1, the lowest or highest number or
// infinity; its logarithm where one is taken. The mean of no floats is NaN, and of no integers fails.
int32_t slipway_Reduce_extents(void** arguments);  // Of all of them.
int32_t slipway_ReduceL1(void** arguments);
int32_t slipway_ReduceL2(void** arguments);
int32_t slipway_ReduceLogSum(void** arguments);
int32_t slipway_ReduceLogSumExp(void** arguments);
int32_t slipway_ReduceMax(void** arguments);
int32_t slipway_ReduceMean(void** arguments);
int32_t slipway_ReduceMin(void** arguments);
int32_t slipway_ReduceProd(void** arguments);
int32_t slipway_ReduceSum(void** arguments);
int32_t slipway_ReduceSumSquare(void** arguments);

// Input: x. Output: where along the axis the highest (lowest) element is; NaN is beyond all. Parameters: axis, whether
// the last of equal ones counts and not the first.
int32_t slipway_ArgMax(void** arguments);
int32_t slipway_ArgMin(void** arguments);

// Inputs: x, axis. Output: sums (products) of the elements along the axis up to each. Parameters: whether without that
// one, whether from the end.
int32_t slipway_CumSum(void** arguments);
int32_t slipway_CumProd(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_REDUCTION_H_
