#include "core/operators/normalization.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "core/passes/gradients/families.h"

namespace slipway {
namespace {

std::vector<int64_t> AxesFrom(int64_t first, int rank) {
  std::vector<int64_t> axes;
  for (int64_t d = first; d < rank; ++d) axes.push_back(d);
  return axes;
}

// All dimensions but the channels.
std::vector<int64_t> BatchAndSpatial(int rank) {
  std::vector<int64_t> axes = AxesFrom(2, rank);
  axes.insert(axes.begin(), 0);
  return axes;
}

// A vector of one a channel against a tensor of this rank.
ValueId PerChannel(GradientNode& n, ValueId vector, int rank) {
  Shape shape = {n.shape(vector)[0]};
  for (int d = 2; d < rank; ++d) shape.push_back(1);
  return n.ReshapeTo(vector, shape);
}

// v with mean 0 (if it is centered) and variance 1 along axes.
struct Normalized {
  std::vector<int64_t> axes;
  bool centered = true;
  ValueId inverse = kNoValue;  // 1 / standard deviation.
  ValueId value = kNoValue;
};

Normalized Normalize(GradientNode& n, ValueId v, std::vector<int64_t> axes, double epsilon,
                     bool centered) {
  Normalized made{std::move(axes), centered, kNoValue, kNoValue};
  if (centered) v = n.Minus(v, n.Reduce("ReduceMean", v, made.axes));
  const ValueId variance = n.Reduce("ReduceMean", n.Mul(v, v), made.axes);
  made.inverse = n.Op("Reciprocal", {n.Op("Sqrt", {n.Plus(variance, n.Number(epsilon))})});
  made.value = n.Mul(v, made.inverse);
  return made;
}

// The gradient of v from that of what became of it.
ValueId Back(GradientNode& n, const Normalized& made, ValueId gradient) {
  const ValueId along = n.Reduce("ReduceMean", n.Mul(gradient, made.value), made.axes);
  ValueId rest = n.Minus(gradient, n.Mul(made.value, along));
  if (made.centered) rest = n.Minus(rest, n.Reduce("ReduceMean", gradient, made.axes));
  return n.Mul(rest, made.inverse);
}

void BatchNormalizationGradient(GradientNode& n) {
  const int rank = n.view().input_type(0).rank();
  const std::vector<int64_t> axes = BatchAndSpatial(rank);
  const auto sum = [&](ValueId v) { return n.Reduce("ReduceSum", v, axes, false); };
  const double epsilon = n.view().Float("epsilon");
  const ValueId dy = n.dy();
  const ValueId scaled = n.Mul(dy, PerChannel(n, n.x(1), rank));
  if (n.view().Int("training_mode") != 0) {
    const Normalized made = Normalize(n, n.x(0), axes, epsilon, true);
    if (n.wants(0)) n.Give(0, Back(n, made, scaled));
    if (n.wants(1)) n.Give(1, sum(n.Mul(dy, made.value)));
    if (n.wants(2)) n.Give(2, sum(dy));
    return;
  }
  const ValueId variance = n.Plus(n.x(4), n.Number(epsilon));
  const ValueId inverse = n.Op("Reciprocal", {n.Op("Sqrt", {variance})});
  const ValueId by_channel = PerChannel(n, inverse, rank);
  const ValueId centered = n.Minus(n.x(0), PerChannel(n, n.x(3), rank));
  const ValueId dx = n.Mul(scaled, by_channel);
  n.Give(0, dx);
  if (n.wants(1)) n.Give(1, sum(n.Mul(dy, n.Mul(centered, by_channel))));
  if (n.wants(2)) n.Give(2, sum(dy));
  if (n.wants(3)) n.Give(3, n.Op("Neg", {sum(dx)}));
  if (n.wants(4)) n.Give(4, n.Div(n.Times(sum(n.Mul(dx, centered)), -0.5), variance));
}

void InstanceNormalizationGradient(GradientNode& n) {
  const int rank = n.view().input_type(0).rank();
  const Normalized made = Normalize(n, n.x(0), AxesFrom(2, rank), n.view().Float("epsilon"), true);
  const auto sum = [&](ValueId v) {
    return n.Reduce("ReduceSum", v, BatchAndSpatial(rank), false);
  };
  if (n.wants(0)) n.Give(0, Back(n, made, n.Mul(n.dy(), PerChannel(n, n.x(1), rank))));
  if (n.wants(1)) n.Give(1, sum(n.Mul(n.dy(), made.value)));
  if (n.wants(2)) n.Give(2, sum(n.dy()));
}

// Layer and root mean square normalization.
template <bool kCentered>
void LayerGradient(GradientNode& n) {
  const auto axis = DecodeLayerNormalization(n.view());
  if (!axis.ok()) return n.Lack(axis.status().message());
  const int rank = n.view().input_type(0).rank();
  const Normalized made =
      Normalize(n, n.x(0), AxesFrom(*axis, rank), n.view().Float("epsilon"), kCentered);
  if (n.wants(0)) n.Give(0, Back(n, made, n.Mul(n.dy(), n.x(1))));
  if (n.wants(1)) n.Give(1, n.Mul(n.dy(), made.value));
  if (n.wants(2)) n.Give(2, n.dy());
}

// [N, C, ...] as [N, groups, what is normalized together].
void GroupNormalizationGradient(GradientNode& n) {
  const auto groups = DecodeGroupNormalization(n.view());
  if (!groups.ok()) return n.Lack(groups.status().message());
  const Shape x = n.view().input_shape(0);
  const int rank = static_cast<int>(x.size());
  const Shape grouped = {x[0], *groups, NumElements(x) / (x[0] * *groups)};
  const Normalized made =
      Normalize(n, n.ReshapeTo(n.x(0), grouped), {2}, n.view().Float("epsilon"), true);
  const auto sum = [&](ValueId v) {
    return n.Reduce("ReduceSum", v, BatchAndSpatial(rank), false);
  };
  if (n.wants(0)) {
    const ValueId scaled = n.Mul(n.dy(), PerChannel(n, n.x(1), rank));
    n.Give(0, n.ReshapeTo(Back(n, made, n.ReshapeTo(scaled, grouped)), x));
  }
  if (n.wants(1)) n.Give(1, sum(n.Mul(n.dy(), n.ReshapeTo(made.value, x))));
  if (n.wants(2)) n.Give(2, sum(n.dy()));
}

void MeanVarianceGradient(GradientNode& n) {
  const auto axes = DecodeMeanVarianceNormalization(n.view());
  if (!axes.ok()) return n.Lack(axes.status().message());
  n.Give(0, Back(n, Normalize(n, n.x(0), *axes, 0, true), n.dy()));
}

void LpNormalizationGradient(GradientNode& n) {
  const auto norm = DecodeLpNormalization(n.view());
  if (!norm.ok()) return n.Lack(norm.status().message());
  const ValueId x = n.x(0);
  const ValueId along = n.Reduce("ReduceSum", n.Mul(n.dy(), n.y()), {norm->axis});
  const bool first = norm->order == 1;
  const ValueId length = n.Reduce(first ? "ReduceL1" : "ReduceL2", x, {norm->axis});
  const ValueId slope = first ? n.Op("Sign", {x}) : n.y();
  n.Give(0, n.Div(n.Minus(n.dy(), n.Mul(slope, along)), length));
}

void SoftmaxGradient(GradientNode& n) {
  const auto axis = DecodeSoftmax(n.view());
  if (!axis.ok()) return n.Lack(axis.status().message());
  const ValueId sum = n.Reduce("ReduceSum", n.Mul(n.dy(), n.y()), {*axis});
  n.Give(0, n.Mul(n.Minus(n.dy(), sum), n.y()));
}

void LogSoftmaxGradient(GradientNode& n) {
  const auto axis = DecodeSoftmax(n.view());
  if (!axis.ok()) return n.Lack(axis.status().message());
  const ValueId sum = n.Reduce("ReduceSum", n.dy(), {*axis});
  n.Give(0, n.Minus(n.dy(), n.Mul(n.Op("Exp", {n.y()}), sum)));
}

constexpr GradientRow kRows[] = {
    {"BatchNormalization", BatchNormalizationGradient},
    {"GroupNormalization", GroupNormalizationGradient},
    {"InstanceNormalization", InstanceNormalizationGradient},
    {"LayerNormalization", LayerGradient<true>},
    {"LogSoftmax", LogSoftmaxGradient},
    {"LpNormalization", LpNormalizationGradient},
    {"MeanVarianceNormalization", MeanVarianceGradient},
    {"RMSNormalization", LayerGradient<false>},
    {"Softmax", SoftmaxGradient},
};

}  // namespace

absl::Status RegisterNormalizationGradients(GradientColumn& column) {
  return AddRows(kRows, column);
}

}  // namespace slipway
