// What stands before and behind models of classical learning. Callable: see call.h.
//
// A list of labels is their number, then an integer and a real for each: kernels use the one that the elements are.
#ifndef SLIPWAY_CORE_KERNELS_FEATURES_H_
#define SLIPWAY_CORE_KERNELS_FEATURES_H_

#include <stdint.h>

extern "C" {
// Inputs: x [..., n], indices of the last dimension. Output: what stands there.
int32_t slipway_ArrayFeatureExtractor(void** arguments);
// Parameters: what is replaced (integer, real), a list of labels by what: one, or one for each index of the last dimension.
// NaN is replaced where NaN is to be.
int32_t slipway_Imputer(void** arguments);
// Parameters: what everything else becomes (integer, real), lists of the keys and of what they become. Of keys that are
// equal the last one counts; NaN equals NaN.
int32_t slipway_LabelEncoder(void** arguments);
// Rows of f32. Parameter: whether by the largest element (0), the sum of magnitudes (1), the length (2). Where that is 0,
// the row stays.
int32_t slipway_Normalizer(void** arguments);
// Parameters: the mode (GramMode of core/operators/features.h), the least and the greatest length of a gram, how many
// elements lie between two of a gram at most, how many lengths there are, the number of grams of each; then of each gram,
// those of a length sorted by them, its elements, its column and its weight (real).
int32_t slipway_TfIdfVectorizer(void** arguments);
// Parameters: whether other categories are zeros (or else an error), a list of labels.
int32_t slipway_OneHotEncoder(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_FEATURES_H_
