// Support vector machines. Sums are those of doubles. Callable: see call.h.
//
// Parameters of both: the kernel (SvmKernel of core/operators/svm.h), gamma, offset and degree (reals), the numbers of
// support vectors and of features, the vectors (reals, one behind the other); then what the functions say.
#ifndef SLIPWAY_CORE_KERNELS_SVM_H_
#define SLIPWAY_CORE_KERNELS_SVM_H_

#include <stdint.h>

extern "C" {
// Input: x. Output: y. Further: whether y is 1 or -1, rho (real), a coefficient for each vector (reals).
int32_t slipway_SvmRegressor(void** arguments);
// Input: x. Outputs: labels, scores. Further: the number of classes; whether there are probabilities; whether the scores
// pass through the logistic function; of each class its label and how many vectors it has; of each pair of classes its
// rho, a and b (reals); the coefficients (reals), [classes - 1, vectors]. Each pair of classes has a vote, the class with
// most of them (of equals the first) is the label. Scores are probabilities, or those of pairs; that s of two classes is
// -s and s.
int32_t slipway_SvmClassifier(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_SVM_H_
