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

std::vector<Halide::VarOrRVar> Order(std::vector<Halide::VarOrRVar> first,
                                     const Halide::RDom& reduction) {
  for (int i = 0; i < reduction.dimensions(); ++i) first.emplace_back(RVar(reduction[i]));
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
  const AccumulatorTile tile = ChooseTile(machine, stages.width, stages.group_blocks,
                                          {stages.input_bytes, stages.block_weight_bytes});
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
  const bool keeps_weights = KeepsWeights(tile);
  accumulator.update()
      .reorder(
          Order({a[0], keeps_weights ? a[3] : a[1], keeps_weights ? a[1] : a[3]}, stages.reduction))
      .vectorize(a[0])
      .unroll(a[1])
      .unroll(a[3]);
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
