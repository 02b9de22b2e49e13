#include "core/codegen/schedules/cpu/join_schedule.h"

#include "core/codegen/schedules/cpu/loops.h"

namespace slipway {

using Halide::TailStrategy;

void ScheduleJoin(const MachineDescription& machine, const JoinStages& stages,
                  Halide::Func result) {
  const int lanes = Lanes(machine, stages.type);
  for (const JoinStages::Part& part : stages.parts) {
    Halide::Stage update = result.update(part.update);
    if (stages.dimension == 0) {
      // Vectors within the part, the rest of it element by element.
      if (Assumed(part.extent) >= lanes) {
        update.vectorize(part.domain.x, lanes, TailStrategy::GuardWithIf);
      }
      continue;
    }
    const int factor = LanesWithin(lanes, stages.extents[0]);
    if (factor > 1) {
      update.vectorize(stages.vars[0], factor,
                       stages.extents[0] != kOpen && stages.extents[0] % factor == 0
                           ? TailStrategy::RoundUp
                           : TailStrategy::GuardWithIf);
    }
  }
}

}  // namespace slipway
