#include "core/codegen/schedules/cpu/convolution_schedule.h"

#include <algorithm>
#include <vector>

#include "core/codegen/schedules/cpu/loops.h"
#include "core/codegen/schedules/cpu/term_products.h"
#include "core/codegen/schedules/cpu/tiles.h"
#include "core/codegen/tile_registers.h"
#include "core/codegen/tile_shapes.h"

namespace slipway {
namespace {

// Of weights that are read side by side, where that is all that a convolution waits for.
constexpr int kWantedStreams = 4;

// The divisor of so many blocks that is the fewest times more or fewer than that.
int StreamsOf(int blocks) {
  int best = 1;
  for (int streams = 2; streams <= std::min(blocks, kMaxTileBlocks); ++streams) {
    const auto times_off = [](int n) {
      return std::max(n, kWantedStreams) / static_cast<double>(std::min(n, kWantedStreams));
    };
    if (blocks % streams == 0 && times_off(streams) < times_off(best)) best = streams;
  }
  return best;
}

// Rows of a tile in tile registers, more of which are more code than it is worth.
constexpr int kMaxTileHeight = 4;

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

int PowerOfTwo(int least) {
  int power = 1;
  while (power < least) power *= 2;
  return power;
}

// Vectors of positions in a row of a plain convolution.
int LanesOfPlain(const MachineDescription& machine, const ConvolutionStages& stages) {
  return LanesWithin(FloatLanes(machine), stages.width);
}

// Whether inputs are loaded together, to be multiplied from registers element by element.
bool LoadsTogether(const MachineDescription& machine, const ConvolutionStages& stages) {
  Func loaded = stages.loaded;
  return machine.has_lane_fma && loaded.defined() && loaded.output_types()[0].is_float();
}

// Vectors of a block of channels.
int BlockVectors(const MachineDescription& machine, const ConvolutionStages& stages) {
  return std::max(1, stages.block / FloatLanes(machine));
}

// Whether sums can be made in tile registers.
bool FitTileRegisters(const MachineDescription& machine, const ConvolutionStages& stages) {
  return HasTileRegistersFor(machine, stages.accumulator, stages.terms) && stages.input_block > 0 &&
         FillsTiles(stages.block, stages.steps_together);
}

// Multiply-adds in tile registers that are worth a task, and tasks of a core: each reads weights of its own.
constexpr int64_t kMultiplyAddsOfTiles = 1 << 22;
constexpr int64_t kTileTasksPerCore = 2;

// What a tile's weights may have of the second-level cache, beside all else, and an image that is read again for each of them.
constexpr int64_t kShareOfWeights = 4;
constexpr int64_t kShareOfImage = 2;
constexpr int kMaxRegisterBlocks = 4;

// Blocks of channels in a tile: one, whose weights the second-level cache keeps for all positions, but where the image comes from
// further away than they do.
int RegisterBlocks(const MachineDescription& machine, const ConvolutionStages& stages) {
  if (stages.input_bytes <= machine.l2_bytes / kShareOfImage) return 1;
  const int64_t fitting = machine.l2_bytes / kShareOfWeights / stages.block_weight_bytes;
  return LargestDivisor(stages.group_blocks,
                        static_cast<int>(std::clamp<int64_t>(fitting, 1, kMaxRegisterBlocks)));
}

ConvolutionSchedule ChooseTileRegisters(const MachineDescription& machine,
                                        const ConvolutionStages& stages) {
  const PositionTile tile = ChoosePositionTile(stages.width, stages.height, stages.block);
  const int blocks = RegisterBlocks(machine, stages);
  const int64_t outer = int64_t{Assumed(stages.batch)} * (stages.channel_blocks / blocks);
  const int64_t products = stages.block_weight_bytes * stages.terms / kTileStepBytes *
                           stages.width * stages.height * blocks * outer;
  const int64_t wanted =
      std::min(kTileTasksPerCore * machine.cores, products / kMultiplyAddsOfTiles);
  // Strips of whole tiles.
  const int strips = LargestDivisor(stages.height, std::min(PiecesFor(outer, stages.height, wanted),
                                                            stages.height / tile.height));
  return {.width = tile.width,
          .blocks = blocks,
          .height = tile.height,
          .registers = 1,
          .strips = strips};
}

// The strips that make as many tasks as are wanted, of rows of so many tiles of channels.
int StripsFor(const MachineDescription& machine, const ConvolutionStages& stages, int blocks) {
  const int64_t outer = int64_t{Assumed(stages.batch)} * (stages.channel_blocks / blocks);
  return PiecesFor(outer, stages.height, WantedTasks(machine));
}

Parameter WidthParameter(int positions, ConvolutionSchedule& schedule) {
  return {"width", &schedule.width, 1, std::clamp(positions, 1, kMaxTileWidth)};
}
Parameter BlocksParameter(const ConvolutionStages& stages, ConvolutionSchedule& schedule) {
  return {"blocks", &schedule.blocks, 1, std::min(stages.group_blocks, kMaxTileBlocks),
          stages.group_blocks};
}
Parameter StripsParameter(const ConvolutionStages& stages, ConvolutionSchedule& schedule) {
  return {"strips", &schedule.strips, 1, stages.height, stages.height};
}

}  // namespace

ConvolutionSchedule ChooseBlockedConvolution(const MachineDescription& machine,
                                             const ConvolutionStages& stages) {
  if (FitTileRegisters(machine, stages)) return ChooseTileRegisters(machine, stages);
  const bool adds_apart = AddsApart(machine, stages.accumulator, stages.terms);
  const AccumulatorTile tile = ChooseTile(machine, stages.width, stages.group_blocks,
                                          {.input_bytes = stages.input_bytes,
                                           .block_weight_bytes = stages.block_weight_bytes,
                                           .adds_apart = adds_apart,
                                           .holds_inputs = LoadsTogether(machine, stages),
                                           .block_vectors = BlockVectors(machine, stages)});
  if (stages.width * stages.height == 1 && stages.block_weight_bytes > machine.l1_bytes) {
    // Weights are read once and wait for memory: a few streams of them are enough.
    return {.blocks = StreamsOf(stages.group_blocks), .strips = StripsFor(machine, stages, 1)};
  }
  // What products are before they are added takes the register that another broadcast input would hold.
  const bool keeps_weights = adds_apart || KeepsWeights(tile);
  return {.width = tile.width,
          .blocks = tile.blocks,
          .keeps_weights = keeps_weights,
          .strips = StripsFor(machine, stages, tile.blocks)};
}

Parameters BlockedConvolutionParameters(const MachineDescription& machine,
                                        const ConvolutionStages& stages,
                                        ConvolutionSchedule& schedule) {
  const int rows_of_strip = stages.height / schedule.strips;
  return {WidthParameter(stages.width, schedule),
          BlocksParameter(stages, schedule),
          {"keeps-weights", &schedule.keeps_weights, 0, 1},
          StripsParameter(stages, schedule),
          {"registers", &schedule.registers, 0, FitTileRegisters(machine, stages) ? 1 : 0},
          {"height", &schedule.height, 1,
           schedule.registers != 0 ? std::min(rows_of_strip, kMaxTileHeight) : 1}};
}

void ScheduleBlockedConvolution(const MachineDescription& machine, const ConvolutionStages& stages,
                                const ConvolutionSchedule& schedule, Func result) {
  const std::vector<Var> vars = result.args();
  const Var c = vars[0], x = vars[1], y = vars[2], channel = vars[3], n = vars[4];
  Var xi("xi"), ci("ci"), yi("yi"), row("row");
  const int rows_of_strip = stages.height / schedule.strips;
  result.split(channel, channel, ci, schedule.blocks, TailStrategy::RoundUp)
      .split(x, x, xi, schedule.width, ExactOrShifted(stages.width, schedule.width))
      .split(y, y, yi, rows_of_strip, TailStrategy::RoundUp)
      .split(yi, yi, row, schedule.height, ExactOrShifted(rows_of_strip, schedule.height))
      .reorder({c, xi, row, ci, x, yi, y, channel, n})
      .vectorize(c);
  ParallelizeOuter(result, {{y, schedule.strips},
                            {channel, stages.channel_blocks / schedule.blocks},
                            {n, Assumed(stages.batch)}});

  Func accumulator = stages.accumulator;
  const std::vector<Var> a = accumulator.args();
  SchedulePadding(machine, stages);
  accumulator.compute_at(result, x).vectorize(a[0]);
  if (schedule.registers != 0) {
    MarkForTileRegisters(
        accumulator,
        {.reduction = stages.reduction, .step = RVar(stages.reduction[1]), .has_lines = true});
    return;
  }
  result.unroll(xi).unroll(ci);
  accumulator.unroll(a[1]).unroll(a[3]);
  const Var fast = a[schedule.keeps_weights ? 3 : 1], slow = a[schedule.keeps_weights ? 1 : 3];
  Halide::Stage update = accumulator.update();
  if (stages.terms > 1) {
    update.reorder(Order({RVar(stages.reduction[0]), a[0], fast, slow}, stages.reduction))
        .atomic()
        .vectorize(RVar(stages.reduction[0]));
  } else {
    update.reorder(Order({a[0], fast, slow}, stages.reduction));
  }
  update.vectorize(a[0]).unroll(a[1]).unroll(a[3]);
  if (LoadsTogether(machine, stages)) {
    update.unroll(stages.steps);
    LoadTogether(machine, stages.loaded, stages.input_block, accumulator,
                 RVar(stages.reduction[2]));
  }
}

ConvolutionSchedule ChooseDepthwiseConvolution(const MachineDescription& machine,
                                               const ConvolutionStages& stages) {
  // More read so much at once that the first-level cache is in the way, where strides are 2.
  const int most = std::max(8, machine.vector_registers / 3) / BlockVectors(machine, stages);
  return {.width = ChooseRowTile(stages.width, std::max(1, most)),
          .strips = StripsFor(machine, stages, 1)};
}

Parameters DepthwiseConvolutionParameters(const MachineDescription&,
                                          const ConvolutionStages& stages,
                                          ConvolutionSchedule& schedule) {
  return {WidthParameter(stages.width, schedule), StripsParameter(stages, schedule)};
}

void ScheduleDepthwiseConvolution(const MachineDescription& machine,
                                  const ConvolutionStages& stages,
                                  const ConvolutionSchedule& schedule, Func result) {
  const std::vector<Var> vars = result.args();
  const Var c = vars[0], x = vars[1], y = vars[2], channel = vars[3], n = vars[4];
  Var xi("xi"), yi("yi");
  result.split(x, x, xi, schedule.width, ExactOrShifted(stages.width, schedule.width))
      .split(y, y, yi, stages.height / schedule.strips, TailStrategy::RoundUp)
      .reorder({c, xi, x, yi, y, channel, n})
      .vectorize(c)
      .unroll(xi);
  const Var task = ParallelizeOuter(
      result, {{y, schedule.strips}, {channel, stages.channel_blocks}, {n, Assumed(stages.batch)}});

  Func accumulator = stages.accumulator;
  const std::vector<Var> a = accumulator.args();
  accumulator.compute_at(result, x).vectorize(a[0]).unroll(a[1]);
  accumulator.update().reorder(Order({a[0], a[1]}, stages.reduction)).vectorize(a[0]).unroll(a[1]);
  if (stages.padded.defined()) {
    Func padded = stages.padded;
    if (stages.slides) {
      padded.store_at(result, task).compute_at(result, yi);
      if (stages.window_rows > 0)
        padded.fold_storage(padded.args()[2], PowerOfTwo(stages.window_rows));
    } else {
      padded.compute_at(result, task);
    }
    VectorizeScratch(machine, padded, stages.input_block);
  }
}

ConvolutionSchedule ChoosePlainConvolution(const MachineDescription& machine,
                                           const ConvolutionStages& stages) {
  const AccumulatorTile tile = ChooseTile(
      machine, std::max(1, stages.width / LanesOfPlain(machine, stages)), stages.group_blocks);
  return {.width = tile.width,
          .blocks = tile.blocks,
          .strips = StripsFor(machine, stages, tile.blocks)};
}

Parameters PlainConvolutionParameters(const MachineDescription& machine,
                                      const ConvolutionStages& stages,
                                      ConvolutionSchedule& schedule) {
  return {WidthParameter(stages.width / LanesOfPlain(machine, stages), schedule),
          BlocksParameter(stages, schedule), StripsParameter(stages, schedule)};
}

void SchedulePlainConvolution(const MachineDescription& machine, const ConvolutionStages& stages,
                              const ConvolutionSchedule& schedule, Func result) {
  const std::vector<Var> vars = result.args();
  const Var x = vars[0], y = vars[1], channel = vars[2], n = vars[3];
  Var xi("xi"), ci("ci"), yi("yi"), xv("xv");
  const int lanes = LanesOfPlain(machine, stages);
  const int width = schedule.width * lanes;
  result.split(channel, channel, ci, schedule.blocks, TailStrategy::RoundUp)
      .split(x, x, xi, width, ExactOrShifted(stages.width, width))
      .split(xi, xi, xv, lanes, TailStrategy::RoundUp)
      .split(y, y, yi, stages.height / schedule.strips, TailStrategy::RoundUp)
      .reorder({xv, xi, ci, x, yi, y, channel, n})
      .vectorize(xv)
      .unroll(xi)
      .unroll(ci);
  ParallelizeOuter(result, {{y, schedule.strips},
                            {channel, stages.channel_blocks / schedule.blocks},
                            {n, Assumed(stages.batch)}});

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
