// Kernels of detectors. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_DETECTION_H_
#define SLIPWAY_CORE_KERNELS_DETECTION_H_

#include <stdint.h>

extern "C" {
// Inputs: boxes, scores, most boxes of a class, threshold of overlap, threshold of scores. Parameters: whether boxes are
// given by their centers. Boxes are kept best first, of equal ones the first; a score that is NaN never.
int32_t slipway_NonMaxSuppression(void** arguments);
int32_t slipway_NonMaxSuppression_count(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_DETECTION_H_
