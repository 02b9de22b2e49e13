// Random numbers: one sequence of MT19937 (Matsumoto, Nishimura 1998) a call, from the lower 32 bits of the seed on, two of its
// numbers for 53 bits: the sequence that published results are made with, where they name a seed. Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_RANDOM_H_
#define SLIPWAY_CORE_KERNELS_RANDOM_H_

#include <stdint.h>

extern "C" {
// Parameters: seed; mean and standard deviation (reals). By the transformation of Box and Muller, 1958. Serves
// RandomNormalLike, too, whose input is not read.
int32_t slipway_RandomNormal(void** arguments);
// Parameters: seed; bounds (reals). Serves RandomUniformLike, too.
int32_t slipway_RandomUniform(void** arguments);
// Input: probabilities. Output: 1 with each of these, else 0. Parameter: seed.
int32_t slipway_Bernoulli(void** arguments);
// Input: [batch, classes], logarithms of what is proportional to the probabilities. Output: [batch, samples] of classes.
// Parameter: seed.
int32_t slipway_Multinomial(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_RANDOM_H_
