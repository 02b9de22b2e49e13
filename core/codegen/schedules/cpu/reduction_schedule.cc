#include "core/codegen/schedules/cpu/reduction_schedule.h"

#include <vector>

#include "core/codegen/schedules/cpu/loops.h"
#include "core/codegen/schedules/cpu/tiles.h"

namespace slipway {
namespace {

using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

// The lanes of the partial results are one vector.
void VectorizePartial(const PartialReduction& reduction) {
  if (!reduction.partial.defined() || reduction.lanes <= 1) return;
  Func partial = reduction.partial;
  const Var lane = partial.args()[0];
  partial.vectorize(lane).update().vectorize(lane);
}

// Sums side by side, of vectors of `lanes` kept elements, so that none waits for the one before.
void UnrollSums(const PartialReduction& reduction, int lanes) {
  Func partial = reduction.partial;
  const Var innermost = partial.args()[0];
  const Var sum = partial.args().back();
  Var lane("lane");
  Halide::Stage update = partial.update();
  std::vector<Halide::VarOrRVar> order;
  if (lanes > 1) {
    partial.vectorize(innermost, lanes, TailStrategy::RoundUp);
    update.split(innermost, innermost, lane, lanes, TailStrategy::RoundUp).vectorize(lane);
    order.emplace_back(lane);
  }
  order.emplace_back(sum);
  for (const Halide::RVar& step : partial.rvars(0)) order.emplace_back(step);
  partial.unroll(sum);
  update.reorder(order).unroll(sum);
}

// Computes the reduction's Funcs at `at` of `consumer`, or as stages of the root when `consumer` has no loops.
// `lanes` is the number of kept elements of the innermost dimension that the consumer computes at once (1 when
// it is reduced).
void ComputeReductionAt(const PartialReduction& reduction, Func consumer, Var at, int lanes) {
  VectorizePartial(reduction);
  if (reduction.sums > 1) UnrollSums(reduction, lanes);
  Func total = reduction.total;
  Func partial = reduction.partial;
  if (consumer.args().empty()) {
    total.compute_root();
    if (partial.defined()) partial.compute_root();
  } else {
    total.compute_at(consumer, at);
    if (partial.defined()) partial.compute_at(consumer, at);
  }
  if (lanes > 1) {
    const Var innermost = total.args()[0];
    total.vectorize(innermost, lanes, TailStrategy::RoundUp);
    if (total.has_update_definition()) {
      total.update().vectorize(innermost, lanes, TailStrategy::RoundUp);
    }
  }
}

void ComputeAtRoot(const PartialReduction& reduction) {
  VectorizePartial(reduction);
  Func total = reduction.total;
  Func partial = reduction.partial;
  total.compute_root();
  if (partial.defined()) partial.compute_root();
}

}  // namespace

void ScheduleReduction(const MachineDescription& machine, const ReductionStages& stages,
                       Func result) {
  const std::vector<Var> loops = result.args();
  if (loops.empty()) {
    ComputeReductionAt(stages.reduction, result, Var(), 1);
    return;
  }
  const int lanes =
      stages.kept_extent != 0 ? LanesWithin(Lanes(machine, stages.type), stages.kept_extent) : 1;
  const std::vector<int>& extents = stages.out_extents;
  Var lane("lane");
  Var innermost = loops[0];
  if (lanes > 1) {
    result.split(innermost, innermost, lane, lanes, ExactOrShifted(extents[0], lanes))
        .vectorize(lane);
  }
  Var at_loop = innermost;
  if (stages.elements > kElementsPerTask) {
    std::vector<OuterLoop> outer;
    outer.push_back({innermost, (Assumed(extents[0]) + lanes - 1) / lanes});
    for (size_t i = 1; i < loops.size(); ++i) outer.push_back({loops[i], Assumed(extents[i])});
    at_loop = ParallelizeOuter(result, outer);
  }
  ComputeReductionAt(stages.reduction, result, at_loop, lanes);
}

void ScheduleRows(const MachineDescription& machine, const RowStages& stages, Func result) {
  const std::vector<int>& extents = stages.extents;
  const size_t rank = extents.size();
  const std::vector<Var> loops = result.args();
  const int lanes = LanesWithin(FloatLanes(machine), extents[0]);
  const bool in_rows = stages.along[0];
  Var lane("lane"), within("within");
  if (lanes > 1) {
    result.split(loops[0], loops[0], lane, lanes, ExactOrShifted(extents[0], lanes))
        .vectorize(lane);
  }
  // One row at a time, or `lanes` of them: everything below happens inside this loop.
  std::vector<Halide::VarOrRVar> order;
  if (lanes > 1) order.emplace_back(lane);
  std::vector<OuterLoop> outer;
  int64_t elements = 1;  // Of a row.
  for (size_t i = 0; i < rank; ++i) {
    if (stages.along[i]) {
      order.emplace_back(loops[i]);
      elements *= Assumed(extents[i]);
      continue;
    }
    int extent = i == 0 ? (Assumed(extents[0]) + lanes - 1) / lanes : Assumed(extents[i]);
    if (outer.empty() && stages.group > 1) {
      result.split(loops[i], loops[i], within, stages.group, TailStrategy::RoundUp);
      order.emplace_back(within);
      elements *= stages.group;
      extent /= stages.group;
    }
    outer.push_back({loops[i], extent});
  }
  for (const OuterLoop& loop : outer) order.emplace_back(loop.var);
  result.reorder(order);

  if (outer.empty()) {
    // A single row.
    for (const PartialReduction& reduction : stages.reductions) ComputeAtRoot(reduction);
    if (stages.elements.defined()) {
      Func(stages.elements).compute_root();
      VectorizeScratch(machine, stages.elements, extents[0]);
    }
    return;
  }
  int64_t rows = 1;
  Var row = outer[0].var;
  bool fused = false;
  for (const OuterLoop& loop : outer) {
    rows *= loop.extent;
    if (loop.extent <= 1) continue;
    if (fused) {
      Var both;
      result.fuse(row, loop.var, both);
      row = both;
    } else {
      row = loop.var;
    }
    fused = true;
  }
  if (rows > 1 && rows * elements * lanes > kElementsPerTask) {
    Var task("task");
    const int64_t wanted = WantedTasks(machine);
    const int per_task = static_cast<int>((rows + wanted - 1) / wanted);
    result.split(row, task, row, per_task, TailStrategy::GuardWithIf).parallel(task);
  }
  // Outside rows, exactly `lanes` of them are computed at once.
  for (const PartialReduction& reduction : stages.reductions) {
    ComputeReductionAt(reduction, result, row, in_rows ? 1 : lanes);
  }
  if (!stages.elements.defined()) return;
  Func(stages.elements).compute_at(result, row);
  VectorizeScratch(machine, stages.elements, in_rows ? extents[0] : lanes);
}

}  // namespace slipway
