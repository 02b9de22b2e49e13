#include "core/codegen/schedules/reduce_schedule.h"

#include <utility>

#include "core/codegen/schedules/loops.h"

namespace slipway {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

Reduction MakeReduction(const Machine& machine,
                        const std::function<Expr(const std::vector<Expr>&)>& element,
                        const std::vector<int>& extents, const std::vector<bool>& reduced,
                        const std::vector<Var>& vars, const Combiner& combiner,
                        const std::string& name) {
  const bool by_lanes = !extents.empty() && reduced[0];
  const int lanes = by_lanes ? LanesWithin(machine.FloatLanes(), extents[0]) : 1;
  Halide::Region region;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (!reduced[i]) continue;
    const int extent = i == 0 ? (extents[0] + lanes - 1) / lanes : extents[i];
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

  Reduction reduction;
  reduction.total = Func(name);
  const std::vector<Expr> kept_at(vars.begin(), vars.end());
  reduction.total(vars) = combiner.identity;
  if (!by_lanes) {
    reduction.total(kept_at) = combiner.combine(reduction.total(kept_at), element(at));
    return reduction;
  }
  const Expr position = r[0] * lanes + lane;
  Expr value;
  if (extents[0] % lanes == 0) {
    at[0] = position;
    value = element(at);
  } else {
    at[0] = Halide::min(position, extents[0] - 1);
    value = Halide::select(position < extents[0], element(at), combiner.identity);
  }
  std::vector<Var> lane_vars = vars;
  lane_vars.insert(lane_vars.begin(), lane);
  const std::vector<Expr> lane_at(lane_vars.begin(), lane_vars.end());
  reduction.partial = Func(name + "_lanes");
  reduction.partial(lane_vars) = combiner.identity;
  reduction.partial(lane_at) = combiner.combine(reduction.partial(lane_at), value);
  const RDom over_lanes(0, lanes, name + "_l");
  std::vector<Expr> total_at = kept_at;
  total_at.insert(total_at.begin(), over_lanes);
  reduction.total(kept_at) =
      combiner.combine(reduction.total(kept_at), reduction.partial(total_at));
  // The lanes are one vector.
  reduction.partial.bound(lane, 0, lanes);
  if (lanes > 1) {
    reduction.partial.vectorize(lane).update().vectorize(lane);
  }
  return reduction;
}

void ComputeReductionAt(const Reduction& reduction, Func consumer, Var at, int lanes) {
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
    total.update().vectorize(innermost, lanes, TailStrategy::RoundUp);
  }
}

}  // namespace slipway
