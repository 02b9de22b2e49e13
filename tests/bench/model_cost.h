// What a model costs whoever runs it: what no engine does without, as far as the model is computed as it is written.
#ifndef SLIPWAY_TESTS_BENCH_MODEL_COST_H_
#define SLIPWAY_TESTS_BENCH_MODEL_COST_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"

namespace slipway::bench {

struct ModelCost {
  // ProductFlops of all nodes.
  int64_t operations = 0;
  // Of constants that nodes read as a whole: tables that only Gather reads do not count.
  int64_t constant_bytes = 0;
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;
};

// Of a graph as it was read. UNIMPLEMENTED where its extents are open; InferType's errors.
absl::StatusOr<ModelCost> CostOf(Graph graph, const PassContext& context);

}  // namespace slipway::bench

#endif  // SLIPWAY_TESTS_BENCH_MODEL_COST_H_
