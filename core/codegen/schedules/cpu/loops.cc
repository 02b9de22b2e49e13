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

void LoadTogether(const MachineDescription& machine, Func loaded, int innermost_extent, Func sum,
                  const Halide::RVar& at) {
  const std::vector<Var> vars = loaded.args();
  const int lanes = FloatLanes(machine);
  const int factor = innermost_extent == 0 ? lanes : LanesWithin(lanes, innermost_extent);
  Var vector("vector"), lane("lane");
  loaded.compute_at(sum, at)
      .store_in(Halide::MemoryType::Register)
      .split(vars[0], vector, lane, factor, TailStrategy::RoundUp)
      .vectorize(lane)
      .unroll(vector);
  for (size_t i = 1; i < vars.size(); ++i) loaded.unroll(vars[i]);
}

void ScheduleUpdated(const MachineDescription&, const UpdatedStages&, Func func) {
  func.compute_root();
}

namespace {

// The innermost dimension that has any extent. REQUIRES: there is a dimension.
size_t AlongOf(const std::vector<int>& extents) {
  size_t along = 0;
  while (along + 1 < extents.size() && extents[along] == 1) ++along;
  return along;
}

int64_t ElementsOf(const std::vector<int>& extents) {
  int64_t elements = 1;
  for (const int extent : extents) elements *= Assumed(extent);
  return elements;
}

}  // namespace

InjectiveSchedule ChooseInjective(const MachineDescription& machine,
                                  const InjectiveStages& stages) {
  if (stages.extents.empty()) return {};
  const int lanes = machine.vector_bytes / stages.element_bytes;
  const int64_t wanted =
      std::min(WantedTasks(machine), ElementsOf(stages.extents) / kElementsPerTask);
  return {LanesWithin(lanes, stages.extents[AlongOf(stages.extents)]),
          static_cast<int>(std::max<int64_t>(1, wanted))};
}

Parameters InjectiveParameters(const MachineDescription&, const InjectiveStages& stages,
                               InjectiveSchedule& schedule) {
  // Powers of two, and a task for a vector at least.
  constexpr int kMaxLanes = 64;
  constexpr int64_t kMaxTasks = 1 << 16;
  if (stages.extents.empty()) return {};
  const int extent = stages.extents[AlongOf(stages.extents)];
  const int64_t vectors = ElementsOf(stages.extents) / schedule.lanes;
  return {
      {"lanes", &schedule.lanes, 1, LanesWithin(kMaxLanes, extent), kMaxLanes},
      {"tasks", &schedule.tasks, 1, static_cast<int>(std::clamp<int64_t>(vectors, 1, kMaxTasks))}};
}

void ScheduleInjective(const MachineDescription&, const InjectiveStages& stages,
                       const InjectiveSchedule& schedule, Func func) {
  const std::vector<int>& extents = stages.extents;
  func.compute_root();
  if (extents.empty()) return;
  const std::vector<Var> vars = func.args();
  const size_t along = AlongOf(extents);
  const int factor = schedule.lanes;
  if (factor > 1) {
    Var inner("inner");
    func.split(vars[along], vars[along], inner, factor, ExactOrShifted(extents[along], factor))
        .vectorize(inner);
  }

  const int64_t wanted = schedule.tasks;
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
