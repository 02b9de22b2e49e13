// Kernels that spread elements over an image and add up what meets. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_DECONVOLUTION_H_
#define SLIPWAY_CORE_KERNELS_DECONVOLUTION_H_

#include <stdint.h>

extern "C" {
// Inputs: x, w, bias. Parameters: group, the window (window.h), which slides over y and makes x.
int32_t slipway_ConvTranspose(void** arguments);
// Inputs: x, image shape, block shape. Parameters: a window over the image, of any number of dimensions; its input and kernel
// are what the inputs say.
int32_t slipway_Col2Im(void** arguments);
int32_t slipway_Col2Im_extents(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_DECONVOLUTION_H_
