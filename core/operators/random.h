// Generators of random numbers: RandomNormal, RandomUniform, RandomNormalLike, RandomUniformLike, Multinomial, Bernoulli.
//
// A node has one sequence of numbers, told by its seed or, without one, by its name: each run makes the same numbers, and
// nodes differ. So what a program does can be repeated on every device; who wants other numbers feeds them in.
#ifndef SLIPWAY_CORE_OPERATORS_RANDOM_H_
#define SLIPWAY_CORE_OPERATORS_RANDOM_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Where the node's sequence begins: a whole seed is that number. Its lower 32 bits count.
uint64_t RandomSeed(const NodeView& view);

absl::Status RegisterRandomOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_RANDOM_H_
