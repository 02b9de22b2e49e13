// From a group to the Halide pipeline that computes it, scheduled.
#ifndef SLIPWAY_CORE_CODEGEN_GROUP_PIPELINE_H_
#define SLIPWAY_CORE_CODEGEN_GROUP_PIPELINE_H_

#include <halide14/Halide.h>

#include <vector>

#include "absl/status/statusor.h"
#include "core/codegen/anchor.h"
#include "core/codegen/lowering.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"

namespace slipway {

struct GroupPipeline {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;  // The inputs; Halide appends the outputs.
};

// One schedule for the whole group: the last operator that is more than an expression (its anchor)
// shapes the loops and takes an elementwise tail into its tiles; other such operators are stages of
// their own; everything else is computed where it is used.
// `lanes` is LoweringContext's. UNIMPLEMENTED as CheckGroup, the lowerings and `schedule` say. May throw
// Halide's errors.
// REQUIRES: CheckGroup(body). Uses Halide, whose names count up in a process: see kernel_compiler.h.
absl::StatusOr<GroupPipeline> BuildGroupPipeline(const Graph& body,
                                                 const OperatorRegistry& registry,
                                                 const Lowerings& lowerings, int lanes,
                                                 const ScheduleFunction& schedule);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_GROUP_PIPELINE_H_
