// BatchNormalization at inference and LRN, which are expressions, and Softmax along one axis.
#include "core/operators/normalization.h"

#include <algorithm>
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/schedules/loops.h"
#include "core/codegen/schedules/reduce_schedule.h"
#include "core/codegen/schedules/tiles.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

absl::StatusOr<std::vector<Func>> LowerBatchNormalization(LoweringContext& context) {
  SLIPWAY_RETURN_IF_ERROR(RequireFloat32(context));
  const int rank = static_cast<int>(context.output_types[0].shape.size());
  const std::vector<Var> vars = FreshVars(rank);
  const Expr channel = rank >= 2 ? Expr(vars[rank - 2]) : Expr(vars[0]);
  const Expr scale = context.inputs[1](channel) /
                     Halide::sqrt(context.inputs[4](channel) + context.node.Float("epsilon"));
  Func result("batch_normalization");
  result(vars) = (context.inputs[0](AsExprs(vars)) - context.inputs[3](channel)) * scale +
                 context.inputs[2](channel);
  return std::vector<Func>{result};
}

// value^(-beta) for a positive value.
Expr NegativePower(const Expr& value, float beta) {
  if (beta == 0.75f) {
    const Expr root = Halide::sqrt(value);
    return 1.0f / (root * Halide::sqrt(root));
  }
  if (beta == 0.5f) return 1.0f / Halide::sqrt(value);
  if (beta == 1.0f) return 1.0f / value;
  return PowOf(value, -beta);
}

// x / (bias + alpha / size * sum of squares of `size` neighbouring channels)^beta
absl::StatusOr<std::vector<Func>> LowerLrn(LoweringContext& context) {
  SLIPWAY_RETURN_IF_ERROR(RequireFloat32(context));
  const NodeView& node = context.node;
  const Shape& shape = context.output_types[0].shape;
  const int rank = static_cast<int>(shape.size());
  SLIPWAY_ASSIGN_OR_RETURN(const LrnView lrn, DecodeLrn(node));
  if (lrn.size > 64) return node.Unimplemented("no kernel for more than 64 neighbours");
  const int size = static_cast<int>(lrn.size);
  const int channels = static_cast<int>(shape[1]);
  const std::vector<Var> vars = FreshVars(rank);
  const Var channel = vars[rank - 2];
  std::vector<Expr> at = AsExprs(vars);
  Expr sum = 0.0f;
  const int before = (size - 1) / 2;
  for (int i = 0; i < size; ++i) {
    const Expr neighbour = channel + (i - before);
    at[rank - 2] = Halide::clamp(neighbour, 0, channels - 1);
    const Expr value = context.inputs[0](at);
    sum += Halide::select(neighbour >= 0 && neighbour < channels, value * value, 0.0f);
  }
  const Expr base = lrn.bias + sum * (lrn.alpha / static_cast<float>(size));
  Func result("lrn");
  result(vars) = context.inputs[0](AsExprs(vars)) * NegativePower(base, lrn.beta);
  return std::vector<Func>{result};
}

// The maximum is subtracted first, so that no exponential overflows. NaN in a row makes the row NaN:
// the maximum may lose it, the exponentials' sum does not.
absl::StatusOr<std::vector<Func>> LowerSoftmax(LoweringContext& context) {
  SLIPWAY_RETURN_IF_ERROR(RequireFloat32(context));
  const Shape& shape = context.node.input_shape(0);
  const int rank = static_cast<int>(shape.size());
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeSoftmax(context.node));
  const std::vector<int> extents = HalideExtents(shape);
  const int along = rank - 1 - static_cast<int>(axis);
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    return context.node.Unimplemented("no kernel for a softmax of nothing");
  }

  std::vector<bool> reduced(rank, false);
  reduced[along] = true;
  std::vector<Var> vars = FreshVars(rank);
  std::vector<Var> kept = vars;
  kept.erase(kept.begin() + along);
  const std::vector<Expr> kept_at = AsExprs(kept);

  const Func input = context.inputs[0];
  const Reduction largest = MakeReduction(
      context.machine, [&](const std::vector<Expr>& at) { return Expr(input(at)); }, extents,
      reduced, kept,
      {LowestOf(Halide::Float(32)), [](Expr a, Expr b) { return Halide::max(a, b); }}, "largest");
  Func exponential("exponential");
  exponential(vars) = ExpOf(input(AsExprs(vars)) - largest.total(kept_at));
  const Reduction sum = MakeReduction(
      context.machine, [&](const std::vector<Expr>& at) { return Expr(exponential(at)); }, extents,
      reduced, kept, {Expr(0.0f), [](Expr a, Expr b) { return a + b; }}, "sum");
  Func result("softmax");
  result(vars) = exponential(AsExprs(vars)) / sum.total(kept_at);

  context.schedule = AnchorSchedule{
      true, [=, machine = context.machine](Func scheduled) {
        const std::vector<Var> loops = scheduled.args();
        const int lanes = LanesWithin(machine.FloatLanes(), extents[0]);
        const bool in_rows = along == 0;
        Var lane("lane");
        Var innermost = loops[0];
        if (lanes > 1) {
          scheduled.split(innermost, innermost, lane, lanes, ExactOrShifted(extents[0], lanes))
              .vectorize(lane);
        }
        // One softmax at a time, or `lanes` of them: everything below happens inside this loop.
        std::vector<Halide::VarOrRVar> order;
        if (lanes > 1) order.emplace_back(lane);
        order.emplace_back(loops[along]);
        if (!in_rows) order.emplace_back(innermost);
        for (int i = 1; i < rank; ++i) {
          if (i != along) order.emplace_back(loops[i]);
        }
        scheduled.reorder(order);

        std::vector<OuterLoop> outer;
        if (!in_rows) outer.push_back({innermost, (extents[0] + lanes - 1) / lanes});
        int64_t rows = 1;
        for (int i = 1; i < rank; ++i) {
          if (i == along) continue;
          outer.push_back({loops[i], extents[i]});
        }
        for (const OuterLoop& loop : outer) rows *= loop.extent;
        Func partial_max = largest.partial;
        if (outer.empty()) {
          // A single softmax over everything.
          Func a = largest.total, b = exponential, c = sum.total, d = sum.partial;
          a.compute_root();
          b.compute_root();
          c.compute_root();
          if (partial_max.defined()) partial_max.compute_root();
          if (d.defined()) d.compute_root();
          VectorizeScratch(machine, b, extents[0]);
          return;
        }
        Var at = outer[0].var;
        Var row = at;
        bool fused = false;
        for (const OuterLoop& loop : outer) {
          if (loop.extent <= 1) continue;
          if (fused) {
            Var both;
            scheduled.fuse(row, loop.var, both);
            row = both;
          } else {
            row = loop.var;
          }
          fused = true;
        }
        at = row;
        if (rows > 1 && rows * extents[along] * lanes > kElementsPerTask) {
          Var task("task");
          const int per_task = static_cast<int>((rows + kWantedTasks - 1) / kWantedTasks);
          scheduled.split(row, task, row, per_task, TailStrategy::GuardWithIf).parallel(task);
        }
        Func e = exponential;
        e.compute_at(scheduled, at);
        // Outside rows, exactly `lanes` of them are computed at once.
        VectorizeScratch(machine, e, in_rows ? extents[0] : lanes);
        ComputeReductionAt(largest, scheduled, at, in_rows ? 1 : lanes);
        ComputeReductionAt(sum, scheduled, at, in_rows ? 1 : lanes);
      }};
  return std::vector<Func>{result};
}

}  // namespace

absl::Status RegisterNormalizationLowerings(Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("BatchNormalization", LowerBatchNormalization));
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("LRN", LowerLrn));
  return lowerings.Add("Softmax", LowerSoftmax);
}

}  // namespace slipway
