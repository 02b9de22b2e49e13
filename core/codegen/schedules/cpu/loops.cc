#include "core/codegen/schedules/cpu/loops.h"

#include <algorithm>

namespace slipway {

using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

TailStrategy ExactOrShifted(int extent, int factor) {
  if (factor == 1) return TailStrategy::RoundUp;
  if (extent == kOpen) return TailStrategy::GuardWithIf;
  return extent % factor == 0 ? TailStrategy::RoundUp : TailStrategy::ShiftInwards;
}

Var ParallelizeOuter(Func func, const std::vector<OuterLoop>& loops) {
  Var fused = loops.front().var;
  bool any = false;
  for (const OuterLoop& loop : loops) {
    if (loop.extent <= 1) continue;
    if (!any) {
      fused = loop.var;
    } else {
      Var both;
      func.fuse(fused, loop.var, both);
      fused = both;
    }
    any = true;
  }
  if (any) func.parallel(fused);
  return fused;
}

void VectorizeScratch(const MachineDescription& machine, Func func, int innermost_extent) {
  if (func.args().empty()) return;
  const int lanes = Lanes(machine, func.output_types()[0]);
  if (innermost_extent == 0) {
    func.vectorize(func.args()[0], lanes, TailStrategy::RoundUp);
    return;
  }
  const int factor = LanesWithin(lanes, innermost_extent);
  if (factor > 1) {
    func.vectorize(func.args()[0], factor, ExactOrShifted(innermost_extent, factor));
  }
}

void ScheduleUpdated(const MachineDescription&, const UpdatedStages&, Func func) {
  func.compute_root();
}

void ScheduleInjective(const MachineDescription& machine, const InjectiveStages& stages,
                       Func func) {
  const std::vector<int>& extents = stages.extents;
  func.compute_root();
  if (extents.empty()) return;
  const std::vector<Var> vars = func.args();
  int lanes = machine.vector_bytes;
  int64_t total = 1;
  for (const Halide::Type& type : func.output_types()) {
    lanes = std::min(lanes, Lanes(machine, type));
  }
  for (const int extent : extents) total *= Assumed(extent);

  // Vectors run along the innermost dimension that has any extent.
  size_t along = 0;
  while (along + 1 < extents.size() && extents[along] == 1) ++along;
  const int factor = LanesWithin(lanes, extents[along]);
  if (factor > 1) {
    Var inner("inner");
    func.split(vars[along], vars[along], inner, factor, ExactOrShifted(extents[along], factor))
        .vectorize(inner);
  }

  const int64_t wanted = std::min(WantedTasks(machine), total / kElementsPerTask);
  if (wanted <= 1) return;
  std::vector<OuterLoop> loops;
  int64_t tasks = 1;
  for (size_t i = extents.size(); i-- > along + 1 && tasks < wanted;) {
    const int extent = Assumed(extents[i]);
    OuterLoop loop = {vars[i], extent};
    const int pieces = PiecesFor(tasks, extent, wanted);
    if (extents[i] != kOpen && pieces < extent) {
      Var within("within");
      func.split(vars[i], vars[i], within, extent / pieces, TailStrategy::RoundUp);
      loop.extent = pieces;
    }
    loops.insert(loops.begin(), loop);
    tasks *= loop.extent;
  }
  if (tasks > 1) {
    ParallelizeOuter(func, loops);
  } else {
    // One long row: tasks are pieces of it.
    Var task("task");
    const int per_task = static_cast<int>(Assumed(extents[along]) / factor / wanted);
    func.split(vars[along], task, vars[along], per_task, TailStrategy::GuardWithIf).parallel(task);
  }
}

}  // namespace slipway
