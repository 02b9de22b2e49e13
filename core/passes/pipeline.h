// The pipeline: all passes in their order, from a model's graph to one ready for a backend.
#ifndef SLIPWAY_CORE_PASSES_PIPELINE_H_
#define SLIPWAY_CORE_PASSES_PIPELINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/graph/graph.h"
#include "core/graph/memory_plan.h"
#include "core/passes/pass.h"

namespace slipway {

struct PipelineOptions {
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
};

struct PipelineResult {
  Graph graph;  // slipway.Fused nodes and views; all types known.
  MemoryPlan memory;
  std::vector<PassReport> passes;  // In the order they ran.
  std::string printed_graph;       // What print_after asked for.
};

// The names of the passes in their order, each once.
std::vector<std::string> PassNames();

// Runs all passes; the graph is verified before the first and after each. INVALID_ARGUMENT for an
// unknown print_after (the known ones are listed) and for a wrong graph; what passes say, with the
// pass's name in front; INTERNAL when a pass leaves a graph that does not verify.
absl::StatusOr<PipelineResult> RunPipeline(Graph graph, const PassContext& context,
                                           const PipelineOptions& options, const Clock& clock);

}  // namespace slipway

#endif  // SLIPWAY_CORE_PASSES_PIPELINE_H_
