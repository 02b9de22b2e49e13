#include "core/codegen/lower/reduction.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/families.h"
#include "core/operators/reduction.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::Var;

Combiner Largest(Halide::Type type) { return {LowestOf(type), MaxOf}; }

Expr Total(Expr total, int64_t) { return total; }
Expr Average(Expr total, int64_t count) {
  if (count == 0) return Halide::Internal::make_const(total.type(), std::nan(""));
  return total * (1.0f / static_cast<float>(count));
}

Lowering Reduce(ReduceKind kind) {
  return [kind](LoweringContext& context) -> absl::StatusOr<std::vector<Func>> {
    SLIPWAY_ASSIGN_OR_RETURN(const ReduceView reduce, DecodeReduce(context.node));
    std::vector<bool> reduced(context.node.input_type(0).rank(), false);
    for (const int64_t axis : reduce.axes) reduced[axis] = true;
    return LowerReduction(context, std::move(reduced), reduce.keep_dims, kind);
  };
}

// What is reduced must be known.
absl::Status ServesKnownAxes(const NodeView& node, absl::Span<const ValueType> outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const ReduceView reduce, DecodeReduce(node));
  for (const int64_t axis : reduce.axes) {
    if (node.input_type(0).dimension(static_cast<int>(axis)).is_known()) continue;
    return node.Unimplemented(absl::StrCat("no kernel can be generated that reduces ",
                                           ToString(node.input_type(0)), " along axis ", axis,
                                           " yet"));
  }
  return ServesEveryType(node, outputs);
}

// The axes of ReduceMean are integers.
absl::Status ServesFloat32Data(const NodeView& node, absl::Span<const ValueType> outputs) {
  if (outputs[0].dtype() == DataType::kFloat32) return ServesKnownAxes(node, outputs);
  return node.Unimplemented(absl::StrCat("no kernel can be generated for a mean of ",
                                         Name(outputs[0].dtype()), " yet, only f32"));
}

// The position of the largest element, the first of equals or with select_last_index the last.
absl::StatusOr<std::vector<Func>> LowerArgMax(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const ArgMaxView arg_max, DecodeArgMax(context.node));
  const Shape& shape = context.node.input_shape(0);
  const int rank = static_cast<int>(shape.size());
  const int along = rank - 1 - static_cast<int>(arg_max.axis);
  const Halide::RDom r(0, static_cast<int>(shape[arg_max.axis]), "r");
  const std::vector<Var> kept = FreshVars(rank - 1);
  std::vector<Expr> at = AsExprs(kept);
  at.insert(at.begin() + along, r.x);
  const Expr element = context.inputs[0](at);
  Func largest("largest");
  largest(kept) = LowestOf(element.type());
  largest(kept) = MaxOf(largest(kept), element);
  // NaN is the largest of all, and equals itself here.
  Expr found = element == largest(kept);
  if (element.type().is_float()) found = found || IsNan(element);
  const int none = arg_max.select_last ? -1 : static_cast<int>(shape[arg_max.axis]);
  const Expr position = SelectStrictly(found, r.x, none);
  Func best("best");
  best(kept) = none;
  best(kept) =
      arg_max.select_last ? Halide::max(best(kept), position) : Halide::min(best(kept), position);
  const int out_rank = context.output_types[0].rank();
  const std::vector<Var> vars = FreshVars(out_rank);
  std::vector<Expr> kept_at = AsExprs(vars);
  if (arg_max.keep_dims) kept_at.erase(kept_at.begin() + along);
  Func result("arg_max");
  result(vars) = Halide::cast<int64_t>(best(kept_at));
  for (const Func& stage : {largest, best}) {
    SLIPWAY_RETURN_IF_ERROR(context.schedule({AnchorKind::kUpdated, UpdatedStages{}}, stage));
  }
  return std::vector<Func>{result};
}

// Combined as a tree, of which no result waits for more than a few others.
Expr CombineAll(std::vector<Expr> values, const Combiner& combiner) {
  while (values.size() > 1) {
    const size_t half = (values.size() + 1) / 2;
    for (size_t i = half; i < values.size(); ++i) {
      values[i - half] = combiner.combine(values[i - half], values[i]);
    }
    values.resize(half);
  }
  return values[0];
}

// How many sums of neighbouring elements are made side by side along a dimension that is not the innermost: a divisor of its
// extent, so that there is no rest.
int SumsSideBySide(const Extent& extent) {
  constexpr int kMost = 8;  // An addition's latency, at two a clock.
  if (extent.known == kOpen) return 1;
  for (int sums = std::min(kMost, extent.known); sums > 1; --sums) {
    if (extent.known % sums == 0) return sums;
  }
  return 1;
}

}  // namespace

Combiner SumCombiner(Halide::Type type) {
  return {Halide::Internal::make_zero(type), [](Expr a, Expr b) { return a + b; },
          /*reads_once=*/true};
}

PartialReduction ReducePartially(int lanes,
                                 const std::function<Expr(const std::vector<Expr>&)>& element,
                                 const std::vector<Extent>& extents,
                                 const std::vector<bool>& reduced, const std::vector<Var>& vars,
                                 const Combiner& combiner, const std::string& name) {
  const bool by_lanes = !extents.empty() && reduced[0];
  PartialReduction reduction;
  size_t innermost_reduced = 0;
  while (innermost_reduced < extents.size() && !reduced[innermost_reduced]) ++innermost_reduced;
  if (!by_lanes && lanes > 1 && combiner.reads_once && innermost_reduced < extents.size()) {
    reduction.sums = SumsSideBySide(extents[innermost_reduced]);
  }
  reduction.lanes = by_lanes ? LanesWithin(lanes, extents[0].known) : 1;
  lanes = reduction.lanes;
  const bool open = by_lanes && extents[0].known == kOpen;
  Halide::Region region;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (!reduced[i]) continue;
    Expr extent = extents[i].expr;
    // Of an open extent the whole vectors.
    if (i == 0) extent = open ? extent / lanes : Expr((extents[0].known + lanes - 1) / lanes);
    if (i == innermost_reduced && reduction.sums > 1) extent = extents[i].known / reduction.sums;
    region.push_back({0, extent});
  }
  const RDom r(region, name + "_r");
  Var lane("lane");
  std::vector<Expr> at;
  size_t kept = 0;
  int next_r = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    at.push_back(reduced[i] ? Expr(r[next_r++]) : Expr(vars[kept++]));
  }

  reduction.total = Func(name);
  const std::vector<Expr> kept_at(vars.begin(), vars.end());
  // Each partial result is read at its place of the partial dimension.
  const auto total_of = [&](int count, bool is_last) {
    std::vector<Expr> values;
    for (int i = 0; i < count; ++i) {
      std::vector<Expr> place = kept_at;
      place.insert(is_last ? place.end() : place.begin(), i);
      values.push_back(reduction.partial(place));
    }
    return CombineAll(std::move(values), combiner);
  };
  if (!by_lanes && reduction.sums == 1) {
    reduction.total(vars) = combiner.identity;
    reduction.total(kept_at) = combiner.combine(reduction.total(kept_at), element(at));
    return reduction;
  }
  if (!by_lanes) {
    Var sum("sum");
    at[innermost_reduced] = at[innermost_reduced] * reduction.sums + sum;
    std::vector<Var> sum_vars = vars;
    sum_vars.push_back(sum);
    const std::vector<Expr> sum_at(sum_vars.begin(), sum_vars.end());
    reduction.partial = Func(name + "_sums");
    reduction.partial(sum_vars) = combiner.identity;
    reduction.partial(sum_at) = combiner.combine(reduction.partial(sum_at), element(at));
    reduction.partial.bound(sum, 0, reduction.sums);
    reduction.total(vars) = total_of(reduction.sums, /*is_last=*/true);
    return reduction;
  }
  const Expr position = r[0] * lanes + lane;
  Expr value;
  if (open || extents[0].known % lanes == 0) {
    at[0] = position;
    value = element(at);
  } else {
    // The last vector alone is gathered.
    at[0] = Halide::min(Halide::likely(position), extents[0].known - 1);
    value =
        Halide::select(Halide::likely(position < extents[0].known), element(at), combiner.identity);
  }
  std::vector<Var> lane_vars = vars;
  lane_vars.insert(lane_vars.begin(), lane);
  const std::vector<Expr> lane_at(lane_vars.begin(), lane_vars.end());
  reduction.partial = Func(name + "_lanes");
  reduction.partial(lane_vars) = combiner.identity;
  reduction.partial(lane_at) = combiner.combine(reduction.partial(lane_at), value);
  reduction.partial.bound(lane, 0, lanes);
  if (combiner.reads_once) {
    reduction.total(vars) = total_of(lanes, /*is_last=*/false);
  } else {
    const RDom over_lanes(0, lanes, name + "_l");
    std::vector<Expr> total_at = kept_at;
    total_at.insert(total_at.begin(), over_lanes);
    reduction.total(vars) = combiner.identity;
    reduction.total(kept_at) =
        combiner.combine(reduction.total(kept_at), reduction.partial(total_at));
  }
  if (open) {
    // What is left behind the last whole vector, one by one.
    region[0] = {extents[0].expr / lanes * lanes, extents[0].expr % lanes};
    const RDom rest(region, name + "_rest");
    next_r = 0;
    for (size_t i = 0; i < extents.size(); ++i) {
      if (reduced[i]) at[i] = Expr(rest[next_r++]);
    }
    reduction.total(kept_at) = combiner.combine(reduction.total(kept_at), element(at));
  }
  return reduction;
}

ReduceKind SumOf() { return {SumCombiner, Total}; }
ReduceKind MeanOf() { return {SumCombiner, Average}; }
ReduceKind LargestOf() { return {Largest, Total}; }

absl::StatusOr<std::vector<Func>> LowerReduction(LoweringContext& context,
                                                 std::vector<bool> reduced, bool keep_dims,
                                                 const ReduceKind& kind) {
  const ValueType& input_type = context.node.input_type(0);
  SLIPWAY_ASSIGN_OR_RETURN(const Halide::Type type, HalideType(context.output_types[0].dtype()));
  if (NumElements(input_type.dimensions()) == Dimension(0)) {
    // Each result is that of no elements.
    Func result("reduced");
    result(FreshVars(context.output_types[0].rank())) =
        Halide::cast(type, kind.finish(kind.combiner(type).identity, 0));
    return std::vector<Func>{result};
  }
  int64_t count = 1;
  int64_t elements = 1;
  std::reverse(reduced.begin(), reduced.end());
  const std::vector<Extent> extents = context.Extents(input_type);
  for (size_t i = 0; i < extents.size(); ++i) {
    elements *= Assumed(extents[i].known);
    if (reduced[i]) count *= extents[i].known;
  }
  const int kept = static_cast<int>(std::count(reduced.begin(), reduced.end(), false));

  const std::vector<Var> kept_vars = FreshVars(kept);
  const Func input = context.inputs[0];
  const PartialReduction reduction = ReducePartially(
      context.lanes, [&](const std::vector<Expr>& at) { return Expr(input(at)); }, extents, reduced,
      kept_vars, kind.combiner(type), "reduce");

  const int out_rank = context.output_types[0].rank();
  const std::vector<Var> vars = FreshVars(out_rank);
  std::vector<Expr> at;
  for (int i = 0; i < static_cast<int>(extents.size()); ++i) {
    if (!reduced[i]) at.push_back(vars[keep_dims ? i : static_cast<int>(at.size())]);
  }
  Func result("reduced");
  result(vars) = Halide::cast(type, kind.finish(reduction.total(at), count));

  context.anchor =
      Anchor{AnchorKind::kReduction,
             ReductionStages{reduction, type, kept > 0 && !reduced[0] ? extents[0].known : 0,
                             HalideExtents(context.output_types[0]), elements},
             /*takes_epilogue=*/true};
  return std::vector<Func>{result};
}

absl::Status RegisterReductionLowerings(Lowerings& lowerings) {
  const struct {
    const char* op;
    Lowering lowering;
  } rows[] = {
      {"ReduceMax", Reduce(LargestOf()).Serving(ServesKnownAxes).Open()},
      {"ReduceMean", Reduce(MeanOf()).Serving(ServesFloat32Data).Open()},
      {"ReduceSum", Reduce(SumOf()).Serving(ServesKnownAxes).Open()},
      {"ArgMax", LowerArgMax},
  };
  for (const auto& row : rows) SLIPWAY_RETURN_IF_ERROR(lowerings.Add(row.op, row.lowering));
  return absl::OkStatus();
}

}  // namespace slipway
