// Recurrent networks. Callable: see call.h.
//
// Inputs: x, w, r, bias, lengths of the sequences, initial h; LSTM also: initial c, peepholes. Outputs: y, last h; LSTM
// also: last c. What lies behind a sequence's end is 0. Parameters of all: whether the batch comes first, an option of the
// kind (GRU: the reset gate applies behind the product; LSTM: the forget gate is 1 - the input gate), whether inputs of
// activations are clipped, the number of directions; the bound of the clip (real); then for each direction whether it
// runs backwards and its activations, each a kind (of core/operators/recurrent.h), alpha and beta (reals).
//
// The whole networks are computed in double. The steps of one, by core/operators/recurrent.h, are f32 and compiled for the
// vectors of each machine; outputs and parameters are the whole network's. Inputs: sums, r, the state's bias, lengths,
// initial h; LSTM also: initial c, peepholes.
#ifndef SLIPWAY_CORE_KERNELS_RECURRENT_H_
#define SLIPWAY_CORE_KERNELS_RECURRENT_H_

#include <stdint.h>

extern "C" {
int32_t slipway_RNN(void** arguments);
int32_t slipway_GRU(void** arguments);
int32_t slipway_LSTM(void** arguments);

int32_t slipway_RNNSteps(void** arguments);
int32_t slipway_GRUSteps(void** arguments);
int32_t slipway_LSTMSteps(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_RECURRENT_H_
