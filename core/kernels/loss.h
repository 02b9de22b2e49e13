// Losses. Callable: see call.h.
//
// Inputs: x [N, C, d...], classes [N, d...], weights of the C classes. Outputs: loss, and of SoftmaxCrossEntropyLoss the
// logarithms of the probabilities. Parameters: whether losses are kept (0), summed up (1) or averaged by weight (2);
// whether samples of a class are ignored, and of which. Sums are those of doubles.
#ifndef SLIPWAY_CORE_KERNELS_LOSS_H_
#define SLIPWAY_CORE_KERNELS_LOSS_H_

#include <stdint.h>

extern "C" {
int32_t slipway_NegativeLogLikelihoodLoss(void** arguments);
int32_t slipway_SoftmaxCrossEntropyLoss(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_LOSS_H_
