// Kernels of signals. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_SIGNAL_H_
#define SLIPWAY_CORE_KERNELS_SIGNAL_H_

#include <stdint.h>

namespace slipway::kernels {

enum class SignalWindow : int64_t { kHann = 0, kHamming = 1, kBlackman = 2 };

}  // namespace slipway::kernels

extern "C" {
// Inputs: x, length, axis. Parameters: whether it is inverse, one-sided.
int32_t slipway_DFT(void** arguments);
int32_t slipway_DFT_extents(void** arguments);
// Inputs: signal, frame step, window, frame length. Parameters: whether it is one-sided.
int32_t slipway_STFT(void** arguments);
int32_t slipway_STFT_extents(void** arguments);
// Inputs: size. Parameters: SignalWindow, whether it is periodic.
int32_t slipway_SignalWindow(void** arguments);
int32_t slipway_SignalWindow_count(void** arguments);
// Inputs: number of mel bins, length of the transform, sample rate, lower edge, upper edge.
int32_t slipway_MelWeightMatrix(void** arguments);
int32_t slipway_MelWeightMatrix_extents(void** arguments);
// Inputs: x, weights, bias, past state. Outputs: y, present state. Parameters: whether y becomes y * sigmoid(y).
int32_t slipway_CausalConvWithState(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_SIGNAL_H_
