// ReadModel: from the files of a model, in whichever format, to its graph.
#ifndef SLIPWAY_CORE_COMPILER_READ_MODEL_H_
#define SLIPWAY_CORE_COMPILER_READ_MODEL_H_

#include "absl/status/statusor.h"
#include "core/compiler/compiler.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// The one place that knows the formats. Errors of the format's importer; INVALID_ARGUMENT for files or
// dimensions that the format has no use for; UNIMPLEMENTED for an unknown format.
absl::StatusOr<Graph> ReadModel(const ModelSource& model, const CompilerOptions& options,
                                const OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_COMPILER_READ_MODEL_H_
