#include "core/codegen/schedules/cpu/convolution_schedule.h"

#include <algorithm>
#include <vector>

#include "core/codegen/schedules/cpu/loops.h"
#include "core/codegen/schedules/cpu/tiles.h"

namespace slipway {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;

// Those, and behind them the dimensions of the reduction that are not among them.
std::vector<Halide::VarOrRVar> Order(std::vector<Halide::VarOrRVar> first,
                                     const Halide::RDom& reduction) {
  for (int i = 0; i < reduction.dimensions(); ++i) {
    const Halide::VarOrRVar next = RVar(reduction[i]);
    const bool is_there = std::any_of(first.begin(), first.end(), [&](const auto& var) {
      return var.is_rvar && var.name() == next.name();
    });
    if (!is_there) first.push_back(next);
  }
  return first;
}

void SchedulePadding(const MachineDescription& machine, const ConvolutionStages& stages) {
  Func padded = stages.padded;
  if (!padded.defined()) return;
  padded.compute_root();
  VectorizeScratch(machine, padded, stages.input_block);
}

}  // namespace

void ScheduleBlockedConvolution(const MachineDescription& machine, const ConvolutionStages& stages,
                                Func result) {
  const AccumulatorTile tile =
      ChooseTile(machine, stages.width, stages.group_blocks,
                 {stages.input_bytes, stages.block_weight_bytes, stages.has_pairs});
  const std::vector<Var> vars = result.args();
  const Var c = vars[0], x = vars[1], y = vars[2], channel = vars[3], n = vars[4];
  Var xi("xi"), ci("ci"), yi("yi");

  const int64_t outer = int64_t{Assumed(stages.batch)} * (stages.channel_blocks / tile.blocks);
  const int strips = PiecesFor(outer, stages.height, WantedTasks(machine));
  result.split(channel, channel, ci, tile.blocks, TailStrategy::RoundUp)
      .split(x, x, xi, tile.width, ExactOrShifted(stages.width, tile.width))
      .split(y, y, yi, stages.height / strips, TailStrategy::RoundUp)
      .reorder({c, xi, ci, x, yi, y, channel, n})
      .vectorize(c)
      .unroll(xi)
      .unroll(ci);
  ParallelizeOuter(
      result,
      {{y, strips}, {channel, stages.channel_blocks / tile.blocks}, {n, Assumed(stages.batch)}});

  Func accumulator = stages.accumulator;
  const std::vector<Var> a = accumulator.args();
  accumulator.compute_at(result, x).vectorize(a[0]).unroll(a[1]).unroll(a[3]);
  // What a product of pairs is before it is added takes the register that another broadcast input would hold.
  const bool keeps_weights = stages.has_pairs || KeepsWeights(tile);
  const Var fast = a[keeps_weights ? 3 : 1], slow = a[keeps_weights ? 1 : 3];
  Halide::Stage update = accumulator.update();
  if (stages.has_pairs) {
    update.reorder(Order({RVar(stages.reduction[0]), a[0], fast, slow}, stages.reduction))
        .atomic()
        .vectorize(RVar(stages.reduction[0]));
  } else {
    update.reorder(Order({a[0], fast, slow}, stages.reduction));
  }
  update.vectorize(a[0]).unroll(a[1]).unroll(a[3]);
  SchedulePadding(machine, stages);
}

void ScheduleDepthwiseConvolution(const MachineDescription& machine,
                                  const ConvolutionStages& stages, Func result) {
  const std::vector<Var> vars = result.args();
  const Var c = vars[0], x = vars[1], y = vars[2], channel = vars[3], n = vars[4];
  Var xi("xi"), yi("yi");
  const AccumulatorTile tile = ChooseTile(machine, stages.width, 1);
  const int width = std::min(tile.width, 8);
  const int64_t outer = int64_t{Assumed(stages.batch)} * stages.channel_blocks;
  const int strips = PiecesFor(outer, stages.height, WantedTasks(machine));
  result.split(x, x, xi, width, ExactOrShifted(stages.width, width))
      .split(y, y, yi, stages.height / strips, TailStrategy::RoundUp)
      .reorder({c, xi, x, yi, y, channel, n})
      .vectorize(c)
      .unroll(xi);
  const Var task = ParallelizeOuter(
      result, {{y, strips}, {channel, stages.channel_blocks}, {n, Assumed(stages.batch)}});

  Func accumulator = stages.accumulator;
  const std::vector<Var> a = accumulator.args();
  accumulator.compute_at(result, x).vectorize(a[0]).unroll(a[1]);
  accumulator.update().reorder(Order({a[0], a[1]}, stages.reduction)).vectorize(a[0]).unroll(a[1]);
  if (stages.padded.defined()) {
    Func padded = stages.padded;
    padded.compute_at(result, task);
    VectorizeScratch(machine, padded, stages.input_block);
  }
}

void SchedulePlainConvolution(const MachineDescription& machine, const ConvolutionStages& stages,
                              Func result) {
  const std::vector<Var> vars = result.args();
  const Var x = vars[0], y = vars[1], channel = vars[2], n = vars[3];
  Var xi("xi"), ci("ci"), yi("yi"), xv("xv");
  const int lanes = LanesWithin(FloatLanes(machine), stages.width);
  const AccumulatorTile tile =
      ChooseTile(machine, std::max(1, stages.width / lanes), stages.group_blocks);
  const int width = tile.width * lanes;
  const int64_t outer = int64_t{Assumed(stages.batch)} * (stages.channel_blocks / tile.blocks);
  const int strips = PiecesFor(outer, stages.height, WantedTasks(machine));
  result.split(channel, channel, ci, tile.blocks, TailStrategy::RoundUp)
      .split(x, x, xi, width, ExactOrShifted(stages.width, width))
      .split(xi, xi, xv, lanes, TailStrategy::RoundUp)
      .split(y, y, yi, stages.height / strips, TailStrategy::RoundUp)
      .reorder({xv, xi, ci, x, yi, y, channel, n})
      .vectorize(xv)
      .unroll(xi)
      .unroll(ci);
  ParallelizeOuter(
      result,
      {{y, strips}, {channel, stages.channel_blocks / tile.blocks}, {n, Assumed(stages.batch)}});

  Func accumulator = stages.accumulator;
  const std::vector<Var> a = accumulator.args();
  Var av("av"), au("au");
  accumulator.compute_at(result, x)
      .split(a[0], au, av, lanes, TailStrategy::RoundUp)
      .vectorize(av)
      .unroll(au)
      .unroll(a[2]);
  accumulator.update()
      .split(a[0], au, av, lanes, TailStrategy::RoundUp)
      .reorder(Order({av, au, a[2]}, stages.reduction))
      .vectorize(av)
      .unroll(au)
      .unroll(a[2]);
  SchedulePadding(machine, stages);
}

}  // namespace slipway
