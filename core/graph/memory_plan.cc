#include "core/graph/memory_plan.h"

#include <algorithm>

namespace slipway {

int64_t WholeArenaBytes(const MemoryPlan& plan) {
  int64_t behind = 0;
  for (const PlannedBody& body : plan.bodies) {
    behind = std::max(behind, WholeArenaBytes(body.plan));
  }
  return plan.arena_bytes + behind;
}

}  // namespace slipway
