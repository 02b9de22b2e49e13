// Forests of decision trees. Sums are those of doubles. Callable: see call.h.
//
// Parameters: how votes are aggregated (TreeAggregate), how scores are transformed (ScoreTransform), the numbers of
// targets, roots, nodes, leaves, votes, members and base values; the roots; of each node its feature, test (TreeTest), split
// (real), first member, number of members, whether NaN is true, where true and false lead (a node, or -1 - a leaf); of each
// leaf its first vote and their number; of each vote its target and weight (real); members and base values (reals); of a
// classifier the labels. core/operators/ensemble.h says what holds of them.
#ifndef SLIPWAY_CORE_KERNELS_ENSEMBLE_H_
#define SLIPWAY_CORE_KERNELS_ENSEMBLE_H_

#include <stdint.h>

extern "C" {
// Input: x. Output: scores.
int32_t slipway_TreeEnsemble(void** arguments);
// Input: x. Outputs: labels, scores. The label is that of the best score that has votes or a base value. Of two classes where
// all votes are for one of them, the other one has the rest: 1 - s where no vote is negative, else, and where s passes
// through the logistic function, -s.
int32_t slipway_TreeEnsembleClassifier(void** arguments);
}

#endif  // SLIPWAY_CORE_KERNELS_ENSEMBLE_H_
