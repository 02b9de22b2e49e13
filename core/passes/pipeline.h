// The pipeline: all passes in their order, from a model's graph to one ready for a backend. The first of
// them know no target and are the same for everybody; a backend adds its own.
#ifndef SLIPWAY_CORE_PASSES_PIPELINE_H_
#define SLIPWAY_CORE_PASSES_PIPELINE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/graph/graph.h"
#include "core/graph/memory_plan.h"
#include "core/passes/pass.h"

namespace slipway {

struct NamedPass {
  std::string name;  // For people and for print_after: "FuseOps".
  Pass pass;
  bool descends = true;      // Whether bodies of nodes are treated as well (pass.h).
  bool is_optional = false;  // An optimization: without it the program is right, but slower.
};

// What a backend does to a graph in its canonical form before it makes code of it.
struct BackendPipeline {
  std::vector<NamedPass> passes;  // In their order.
  // Says where the values of the last pass's graph lie. Empty for a backend that needs no plan.
  std::function<absl::StatusOr<MemoryPlan>(const Graph&, const PassContext&)> plan_memory;
};

struct PipelineOptions {
  // Names of optional passes that are left out.
  std::vector<std::string> without;
  // The pass after which the graph's text is kept; empty for none. Where a pass runs more than once,
  // after its last run.
  std::string print_after;
  // Constants with more elements are written as digests in that text.
  int64_t print_max_elements = 64;
};

struct PassReport {
  std::string name;
  absl::Duration duration;
  int64_t nodes_after = 0;
  int64_t constant_bytes_after = 0;
  std::vector<std::string> notes = {};  // PassLedger::notes.
};

struct PipelineResult {
  Graph graph;                     // As the backend's passes leave it; all types known.
  MemoryPlan memory;               // Empty where the backend has no plan_memory.
  std::vector<PassReport> passes;  // In the order they ran.
  std::string printed_graph;       // What print_after asked for.
};

// The passes for every target in their order; one may be there more than once.
std::vector<NamedPass> PassesForEveryTarget();

// The graph after one pass, in bodies too where it descends, verified; what it took is added to `reports`. Errors as
// RunPipeline's.
absl::StatusOr<Graph> RunPass(const NamedPass& pass, Graph graph, const PassContext& context,
                              const Clock& clock, std::vector<PassReport>& reports);

// The names of all passes in their order, each once: those for every target, those of `backend`, and
// "PlanMemory" if it plans.
std::vector<std::string> PassNames(const BackendPipeline& backend);

// Runs all of them; the graph is verified before the first and after each. INVALID_ARGUMENT for an
// unknown print_after, for a pass to leave out that is not optional (the known ones are listed) and for a wrong graph; what passes say, with the
// pass's name in front; INTERNAL when a pass leaves a graph that does not verify.
absl::StatusOr<PipelineResult> RunPipeline(Graph graph, const BackendPipeline& backend,
                                           const PassContext& context,
                                           const PipelineOptions& options, const Clock& clock);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_PIPELINE_H_
