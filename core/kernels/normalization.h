// Kernels of normalizations. Callable: see call.h. They compute in f64 and round once; NaN makes everything NaN that it is
// normalized with.
#ifndef SLIPWAY_CORE_KERNELS_NORMALIZATION_H_
#define SLIPWAY_CORE_KERNELS_NORMALIZATION_H_

#include <stdint.h>

extern "C" {
// Input: x. Parameter: axis.
int32_t slipway_Softmax(void** arguments);
int32_t slipway_LogSoftmax(void** arguments);
int32_t slipway_Hardmax(
    void** arguments);  // 1 where the highest element is, the first of equal ones.
// Parameters: axis, order (1 or 2). Where the norm is 0 the result is.
int32_t slipway_LpNormalization(void** arguments);

// Inputs: x, and scale and bias (which may be missing) for each of its channels, dimension 1. Parameter: epsilon.
int32_t slipway_InstanceNormalization(void** arguments);
// Parameters: epsilon, the number of groups.
int32_t slipway_GroupNormalization(void** arguments);
// Scale and bias broadcast to x. Parameters: epsilon, the first axis normalized. Outputs: y, the mean and the inverse of the
// standard deviation.
int32_t slipway_LayerNormalization(void** arguments);
// The same by the root of the mean square, without bias.
int32_t slipway_RMSNormalization(void** arguments);

// Input: x. Parameters: the number of axes, and each.
int32_t slipway_MeanVarianceNormalization(void** arguments);

// Inputs: x, scale, bias, mean, variance, each of these a number a channel. Outputs: y, and in training the mean and the
// variance that go on. Parameters: epsilon, momentum, whether in training.
int32_t slipway_BatchNormalization(void** arguments);

// Input: x. Across its channels; parameters: alpha, beta, bias, size.
int32_t slipway_LRN(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_NORMALIZATION_H_
