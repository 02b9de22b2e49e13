// OwnOperator: an operator that the caller adds to Slipway's own, compilation by compilation.
#ifndef SLIPWAY_CORE_COMPILER_OWN_OPERATOR_H_
#define SLIPWAY_CORE_COMPILER_OWN_OPERATOR_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/codegen/lowering.h"
#include "core/graph/operator_registry.h"
#include "core/reference/kernel.h"

namespace slipway {

// Everything the compiler has to know of an operator; client/examples/own_operator shows one.
struct OwnOperator {
  // The name has a dot ("example.Squareplus") and does not begin with "slipway.": it is never the name of
  // an operator that Slipway has or will have.
  OperatorSchema schema;
  Kernel kernel;  // Evaluates it where its inputs are constants.
  // With a revision, which is changed with every change to any of the three: it is part of the key of every
  // kernel with this operator, and of CompilerTargets.
  Lowering lowering;
};

// What one compilation knows of operators.
struct KnownOperators {
  OperatorRegistry registry;  // Slipway's and the caller's.
  KernelColumn kernels;       // The same.
  Lowerings own_lowerings;    // The caller's; backends know Slipway's.
};

// INVALID_ARGUMENT names the operator and what it lacks; ALREADY_EXISTS one that is there twice.
absl::StatusOr<KnownOperators> KnowOperators(absl::Span<const OwnOperator> own_operators);

}  // namespace slipway

#endif  // SLIPWAY_CORE_COMPILER_OWN_OPERATOR_H_
