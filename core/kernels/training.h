// Steps of optimizers; operands as core/operators/training.h has them. Computed in double. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_TRAINING_H_
#define SLIPWAY_CORE_KERNELS_TRAINING_H_

#include <stdint.h>

extern "C" {
// Parameters (reals): decay factor, epsilon, coefficient of the norm.
int32_t slipway_Adagrad(void** arguments);
// Parameters (reals): alpha, beta, epsilon, coefficients of the norm before and after the step.
int32_t slipway_Adam(void** arguments);
// Parameters: alpha, beta, coefficient of the norm (reals); whether it is Nesterov's.
int32_t slipway_Momentum(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_TRAINING_H_
