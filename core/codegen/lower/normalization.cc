// BatchNormalization at inference and LRN, which are expressions; Softmax along one axis and normalizations by the moments
// of rows.
#include "core/operators/normalization.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/broadcast.h"
#include "core/codegen/lower/families.h"
#include "core/codegen/lower/reduction.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

// Each is a term of the expression.
constexpr int64_t kMaxNeighbours = 64;

absl::StatusOr<std::vector<Func>> LowerBatchNormalization(LoweringContext& context) {
  const int rank = context.output_types[0].rank();
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

absl::Status ServesInference(const NodeView& node, absl::Span<const ValueType> outputs) {
  if (node.Int("training_mode") != 0) {
    return node.Unimplemented("no kernel can be generated for training yet");
  }
  return ServesFloat32(node, outputs);
}

absl::Status ServesLrn(const NodeView& node, absl::Span<const ValueType> outputs) {
  SLIPWAY_RETURN_IF_ERROR(ServesFloat32(node, outputs));
  SLIPWAY_ASSIGN_OR_RETURN(const LrnView lrn, DecodeLrn(node));
  if (lrn.size > kMaxNeighbours) {
    return node.Unimplemented(
        absl::StrCat("no kernel can be generated for more than ", kMaxNeighbours, " neighbours"));
  }
  return absl::OkStatus();
}

// x / (bias + alpha / size * sum of squares of `size` neighbouring channels)^beta
absl::StatusOr<std::vector<Func>> LowerLrn(LoweringContext& context) {
  const NodeView& node = context.node;
  const Shape& shape = context.output_types[0].shape();
  const int rank = static_cast<int>(shape.size());
  SLIPWAY_ASSIGN_OR_RETURN(const LrnView lrn, DecodeLrn(node));
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

// The maximum is subtracted first, so that no exponential overflows. NaN in a row makes the row NaN, by way of the
// maximum: one that lost it would be that of the elements behind it alone. So does an infinity, whose difference from
// itself is NaN.
absl::StatusOr<std::vector<Func>> LowerSoftmax(LoweringContext& context) {
  const std::vector<Extent> extents = context.Extents(context.node.input_type(0));
  const int rank = static_cast<int>(extents.size());
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeSoftmax(context.node));
  const int along = rank - 1 - static_cast<int>(axis);

  std::vector<bool> reduced(rank, false);
  reduced[along] = true;
  std::vector<Var> vars = FreshVars(rank);
  std::vector<Var> kept = vars;
  kept.erase(kept.begin() + along);
  const std::vector<Expr> kept_at = AsExprs(kept);

  const Func input = context.inputs[0];
  // NaN is not asked for: it comes through the sum of what is made of it.
  const Combiner larger = {LowestOf(Halide::Float(32)),
                           [](Expr a, Expr b) { return Halide::max(std::move(a), std::move(b)); },
                           /*reads_once=*/true};
  const PartialReduction largest = ReducePartially(
      context.lanes, [&](const std::vector<Expr>& at) { return Expr(input(at)); }, extents, reduced,
      kept, larger, "largest");
  Func exponential("exponential");
  exponential(vars) = ExpOf(Strictly(input(AsExprs(vars)) - largest.total(kept_at)));
  const PartialReduction sum = ReducePartially(
      context.lanes, [&](const std::vector<Expr>& at) { return Expr(exponential(at)); }, extents,
      reduced, kept, SumCombiner(Halide::Float(32)), "sum");
  Func result("softmax");
  // One division a row.
  const Expr share = Strictly(1.0f / sum.total(kept_at));
  result(vars) = Strictly(exponential(AsExprs(vars)) * share);

  context.anchor = Anchor{AnchorKind::kRows,
                          RowStages{{largest, sum}, exponential, KnownExtents(extents), reduced},
                          /*takes_epilogue=*/true};
  return std::vector<Func>{result};
}

// The rows that a normalization takes together, as RowStages has them, and its weights: how scale (input 1) and bias
// (input 2) are read.
struct Rows {
  std::vector<bool> along;  // Innermost first.
  int group = 1;
  bool centered = true;
  std::function<Expr(int input, const std::vector<Expr>& at)> weight;
};

// (x - mean) / sqrt(mean of squares + epsilon) * scale + bias, where what is squared has been centered too.
absl::StatusOr<std::vector<Func>> NormalizeRows(LoweringContext& context, const Rows& rows) {
  const NodeView& node = context.node;
  const std::vector<int> extents = HalideExtents(node.input_type(0));
  const size_t rank = extents.size();
  // With groups the dimension of channels is seen as two: which of a group, and which group.
  size_t channel = rank;
  std::vector<int> seen = extents;
  std::vector<bool> reduced = rows.along;
  if (rows.group > 1) {
    channel = rank - 2;
    seen[channel] = rows.group;
    seen.insert(seen.begin() + channel + 1, extents[channel] / rows.group);
    reduced[channel] = true;
    reduced.insert(reduced.begin() + channel + 1, false);
  }
  double count = 1;
  for (size_t i = 0; i < seen.size(); ++i) count *= reduced[i] ? seen[i] : 1;
  const auto x = [&](std::vector<Expr> at) {
    if (channel < rank) {
      at[channel] += at[channel + 1] * rows.group;
      at.erase(at.begin() + channel + 1);
    }
    return Expr(context.inputs[0](at));
  };
  // A row's place, of that of one of its elements.
  const auto row_of = [&](const std::vector<Expr>& at) {
    std::vector<Expr> row;
    for (size_t i = 0; i < at.size(); ++i) {
      if (!reduced[i]) row.push_back(at[i]);
    }
    return row;
  };
  const std::vector<Var> kept =
      FreshVars(static_cast<int>(std::count(reduced.begin(), reduced.end(), false)));
  const auto mean_of = [&](const std::function<Expr(const std::vector<Expr>&)>& element,
                           const char* name) {
    return ReducePartially(context.lanes, element, {seen.begin(), seen.end()}, reduced, kept,
                           SumCombiner(Halide::Float(32)), name);
  };
  const float each = static_cast<float>(1 / count);
  std::vector<PartialReduction> reductions;
  if (rows.centered) reductions.push_back(mean_of(x, "total"));
  const auto centered = [&](const std::vector<Expr>& at) {
    return rows.centered ? Strictly(x(at) - reductions[0].total(row_of(at)) * each) : x(at);
  };
  const auto square = [&](const std::vector<Expr>& at) {
    const Expr value = centered(at);
    return value * value;
  };
  reductions.push_back(mean_of(square, "squares"));

  const std::vector<Var> vars = FreshVars(static_cast<int>(rank));
  const std::vector<Expr> at = AsExprs(vars);
  std::vector<Expr> place = at;
  if (channel < rank) {
    place[channel] = at[channel] % rows.group;
    place.insert(place.begin() + channel + 1, at[channel] / rows.group);
  }
  const Expr variance = reductions.back().total(row_of(place)) * each;
  Expr value = centered(place) * (1.0f / Halide::sqrt(variance + node.Float("epsilon")));
  value *= rows.weight(1, at);
  if (node.has_input(2)) value += rows.weight(2, at);
  Func result("normalized");
  result(vars) = value;
  context.anchor =
      Anchor{AnchorKind::kRows, RowStages{reductions, Func(), extents, rows.along, rows.group},
             /*takes_epilogue=*/true};
  return std::vector<Func>{result};
}

// From an axis on to the last, with weights that broadcast.
absl::StatusOr<std::vector<Func>> NormalizeLayers(LoweringContext& context, bool centered) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeLayerNormalization(context.node));
  Rows rows;
  rows.along.assign(context.node.input_type(0).rank(), false);
  std::fill_n(rows.along.begin(), static_cast<int64_t>(rows.along.size()) - axis, true);
  rows.centered = centered;
  rows.weight = [&context](int input, const std::vector<Expr>& at) {
    return ReadBroadcast(context.inputs[input], context.node.input_type(input), at);
  };
  return NormalizeRows(context, rows);
}
absl::StatusOr<std::vector<Func>> LowerLayerNormalization(LoweringContext& context) {
  return NormalizeLayers(context, /*centered=*/true);
}
absl::StatusOr<std::vector<Func>> LowerRmsNormalization(LoweringContext& context) {
  return NormalizeLayers(context, /*centered=*/false);
}

// Everything within `group` channels, with a weight a channel.
absl::StatusOr<std::vector<Func>> NormalizeChannels(LoweringContext& context, int64_t group) {
  const size_t rank = context.node.input_type(0).rank();
  Rows rows;
  rows.along.assign(rank, true);
  rows.along[rank - 2] = rows.along[rank - 1] = false;
  rows.group = static_cast<int>(group);
  rows.weight = [&context, rank](int input, const std::vector<Expr>& at) {
    return Expr(context.inputs[input](at[rank - 2]));
  };
  return NormalizeRows(context, rows);
}
absl::StatusOr<std::vector<Func>> LowerInstanceNormalization(LoweringContext& context) {
  return NormalizeChannels(context, 1);
}
absl::StatusOr<std::vector<Func>> LowerGroupNormalization(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t groups, DecodeGroupNormalization(context.node));
  return NormalizeChannels(context, context.node.input_type(0).dimension(1).extent() / groups);
}

// What a mean is taken over must be known.
absl::Status ServesKnownFrom(const NodeView& node, int64_t axis) {
  const ValueType& x = node.input_type(0);
  for (int d = static_cast<int>(axis); d < x.rank(); ++d) {
    if (x.dimension(d).is_known()) continue;
    return node.Unimplemented(absl::StrCat("no kernel can be generated for rows of ", ToString(x),
                                           ", whose length is not known, yet"));
  }
  return absl::OkStatus();
}

absl::Status ServesPlacesOfChannels(const NodeView& node, absl::Span<const ValueType> outputs) {
  if (node.input_type(0).rank() < 3) {
    return node.Unimplemented("no kernel can be generated for channels without places yet");
  }
  SLIPWAY_RETURN_IF_ERROR(ServesKnownFrom(node, 1));
  return ServesFloat32(node, outputs);
}

// The mean and the deviation are not made.
absl::Status ServesNormalizedAlone(const NodeView& node, absl::Span<const ValueType> outputs) {
  for (int i = 1; i < node.num_outputs(); ++i) {
    if (node.has_output(i)) {
      return node.Unimplemented("no kernel can be generated for mean and deviation yet");
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeLayerNormalization(node));
  SLIPWAY_RETURN_IF_ERROR(ServesKnownFrom(node, axis));
  return ServesFloat32(node, outputs);
}

}  // namespace

absl::Status RegisterNormalizationLowerings(Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add(
      "BatchNormalization", Lowering(LowerBatchNormalization).Serving(ServesInference).Open()));
  SLIPWAY_RETURN_IF_ERROR(lowerings.Add("LRN", Lowering(LowerLrn).Serving(ServesLrn)));
  const struct {
    const char* op;
    LowerFunction lower;
    ServesFunction serves;
  } rows[] = {
      {"GroupNormalization", LowerGroupNormalization, ServesPlacesOfChannels},
      {"InstanceNormalization", LowerInstanceNormalization, ServesPlacesOfChannels},
      {"LayerNormalization", LowerLayerNormalization, ServesNormalizedAlone},
      {"RMSNormalization", LowerRmsNormalization, ServesNormalizedAlone},
      {"Softmax", LowerSoftmax, ServesFloat32},
  };
  for (const auto& row : rows) {
    SLIPWAY_RETURN_IF_ERROR(lowerings.Add(row.op, Lowering(row.lower).Serving(row.serves).Open()));
  }
  return absl::OkStatus();
}

}  // namespace slipway
