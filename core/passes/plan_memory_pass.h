// PlanMemory: where every value of a fused graph lies.
#ifndef SLIPWAY_CORE_PASSES_PLAN_MEMORY_PASS_H_
#define SLIPWAY_CORE_PASSES_PLAN_MEMORY_PASS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/graph/memory_plan.h"
#include "core/graph/operator_registry.h"

namespace slipway {

// Views lie where their input lies, the inputs of Concats outside of groups (placed_parts.h) in the
// Concat's result, one after the other. What becomes a graph output is written straight into the caller's
// buffer, where it is made by a kernel; an input, a constant or a second name is copied there at the
// end. Everything else shares one arena, by PlanArena over the order of nodes.
// `device_of` says in whose memory each value lies; without it all lie in the host's (0), and so do all of bodies. Inputs and
// outputs of the graph must.
// INTERNAL for a graph without types or not as FuseOps leaves it; RESOURCE_EXHAUSTED when the arena exceeds the limits of PlanArena.
absl::StatusOr<MemoryPlan> PlanMemory(const Graph& graph, const OperatorRegistry& registry,
                                      const std::vector<int>& device_of = {});

// For people: the arena as DumpArena draws it, with the values' names.
std::string DumpMemory(const Graph& graph, const MemoryPlan& plan);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_PLAN_MEMORY_PASS_H_
