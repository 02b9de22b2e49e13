// Attention in its forms. Everything but BlockAttention is computed in double; what ONNX's formulas name as a tensor is rounded to its
// type.
// Callable: see call.h.
#ifndef SLIPWAY_CORE_KERNELS_ATTENTION_H_
#define SLIPWAY_CORE_KERNELS_ATTENTION_H_

#include <stdint.h>

extern "C" {
// Inputs: queries, keys, values (each of rank 4, or of rank 3 with the heads packed), mask, past keys, past values, number
// of keys that are no padding. Outputs: y, present keys, present values, scores. Parameters: heads of queries, heads of
// keys, whether causal, positions seen before and after a query's own (-1 for all), the Type that scores are rounded to
// before the softmax (kNone: that of the queries), which scores are wanted (AttentionScores); scale and soft cap (reals).
int32_t slipway_Attention(void** arguments);

// slipway.BlockAttention (core/operators/attention.h), in f32. Inputs: queries, keys, values, mask. Output: y. Parameters: heads of
// queries, heads of keys; for queries, keys, values and y each the axes of its four dimensions; the first head in queries, keys and
// values; whether probabilities that are NaN are 0; how many keys behind its own number a query sees besides (2^40 for all); scale, what
// a mask puts in place of scores, what scores of keys are that a query does not see, before a mask is added, or minus infinity (reals).
int32_t slipway_BlockAttention(void** arguments);

// Inputs: queries, keys, values, past state, decay, update rate. Outputs: y, present state. Parameters: heads of queries,
// heads of keys; scale (real).
int32_t slipway_LinearAttention(void** arguments);

// Inputs: x, cosines, sines, positions. Output: y. Parameters: heads, how many elements of each are rotated, whether pairs
// are neighbours.
int32_t slipway_RotaryEmbedding(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_ATTENTION_H_
