#include "core/codegen/schedules/gpu/thread_schedule.h"

#include <vector>

namespace slipway {
namespace {

using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

// Of the dimensions of an update those that it goes through as they are; the others its reduction goes through.
std::vector<Var> PureVars(Func func, int update) {
  std::vector<Var> vars;
  const std::vector<Halide::Expr>& args = func.update_args(update);
  for (size_t i = 0; i < args.size(); ++i) {
    const auto* variable = args[i].as<Halide::Internal::Variable>();
    if (variable != nullptr && !variable->reduction_domain.defined()) {
      vars.emplace_back(variable->name);
    }
  }
  return vars;
}

// The loop of the instances in a group.
Var MapToThreads(Halide::Stage stage, const std::vector<Var>& vars, int threads) {
  Var thread("thread");
  if (vars.empty()) {
    Var block("block");
    stage.gpu_single_thread();
    return thread;
  }
  Var all = vars[0];
  for (size_t i = 1; i < vars.size(); ++i) {
    Var both;
    stage.fuse(all, vars[i], both);
    all = both;
  }
  Var block("block");
  stage.gpu_tile(all, block, thread, threads, TailStrategy::GuardWithIf);
  return thread;
}

// Returns the loop of the instances of the pure definition.
Var MapResult(Func func, int threads) {
  const Var thread = MapToThreads(func, func.args(), threads);
  for (int update = 0; update < func.num_update_definitions(); ++update) {
    MapToThreads(func.update(update), PureVars(func, update), threads);
  }
  return thread;
}

void ComputeByThreads(Func func, int threads) {
  if (!func.defined()) return;
  func.compute_root();
  MapResult(func, threads);
}

void ComputeByThreads(const PartialReduction& reduction, int threads) {
  ComputeByThreads(reduction.partial, threads);
  ComputeByThreads(reduction.total, threads);
}

}  // namespace

Parameters ThreadParameters(const MachineDescription& machine, ThreadSchedule& schedule) {
  return {{"threads", &schedule.threads, 1, machine.max_threads_per_block}};
}

void ScheduleInjectiveThreads(const MachineDescription&, const InjectiveStages&,
                              const ThreadSchedule& schedule, Func func) {
  ComputeByThreads(func, schedule.threads);
}

void ScheduleUpdatedThreads(const MachineDescription&, const UpdatedStages&,
                            const ThreadSchedule& schedule, Func func) {
  ComputeByThreads(func, schedule.threads);
}

void ScheduleConvolutionThreads(const MachineDescription&, const ConvolutionStages& stages,
                                const ThreadSchedule& schedule, Func result) {
  const Var thread = MapResult(result, schedule.threads);
  Func(stages.accumulator).compute_at(result, thread);
}

void ScheduleProductThreads(const MachineDescription&, const MatrixStages& stages,
                            const ThreadSchedule& schedule, Func result) {
  const Var thread = MapResult(result, schedule.threads);
  Func(stages.accumulator).compute_at(result, thread);
}

void ScheduleReductionThreads(const MachineDescription&, const ReductionStages& stages,
                              const ThreadSchedule& schedule, Func result) {
  const Var thread = MapResult(result, schedule.threads);
  if (result.args().empty()) {
    ComputeByThreads(stages.reduction, schedule.threads);
    return;
  }
  if (stages.reduction.partial.defined()) {
    Func(stages.reduction.partial).compute_at(result, thread);
  }
  Func(stages.reduction.total).compute_at(result, thread);
}

void ScheduleRowThreads(const MachineDescription&, const RowStages& stages,
                        const ThreadSchedule& schedule, Func result) {
  for (const PartialReduction& reduction : stages.reductions) {
    ComputeByThreads(reduction, schedule.threads);
  }
  ComputeByThreads(stages.elements, schedule.threads);
  MapResult(result, schedule.threads);
}

void ScheduleJoinThreads(const MachineDescription&, const JoinStages&,
                         const ThreadSchedule& schedule, Func result) {
  MapResult(result, schedule.threads);
}

}  // namespace slipway
