#include "core/operators/convolution.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/operators/deconvolution.h"
#include "core/operators/window.h"
#include "core/passes/gradients/families.h"

namespace slipway {
namespace {

std::vector<int64_t> Joined(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

std::vector<int64_t> SpatialAxes(const Shape& shape) {
  std::vector<int64_t> axes;
  for (size_t d = 2; d < shape.size(); ++d) axes.push_back(static_cast<int64_t>(d));
  return axes;
}

// The sum over all dimensions but the channels.
ValueId BiasGradient(GradientNode& n) {
  return n.Reduce("ReduceSum", n.dy(), Joined({0}, SpatialAxes(n.shape(n.dy()))), false);
}

// The first `to` elements of each spatial dimension.
ValueId CutTo(GradientNode& n, ValueId v, const Shape& to) {
  if (!n.status().ok() || n.shape(v) == to) return v;
  const std::vector<int64_t> axes = SpatialAxes(to);
  const std::vector<int64_t> ends(to.begin() + 2, to.end());
  return n.Op("Slice",
              {v, n.Ints(std::vector<int64_t>(ends.size(), 0)), n.Ints(ends), n.Ints(axes)});
}

// [N, G * C, ...] as [C, G * N, ...], so that what was summed by channel is summed by batch.
ValueId ChannelsAsBatches(GradientNode& n, ValueId v, int64_t group) {
  if (!n.status().ok()) return v;
  const Shape from = n.shape(v);
  Shape parted = {from[0], group, from[1] / group};
  Shape to = {from[1] / group, group * from[0]};
  std::vector<int64_t> perm = {2, 1, 0};
  for (size_t d = 2; d < from.size(); ++d) {
    parted.push_back(from[d]);
    to.push_back(from[d]);
    perm.push_back(static_cast<int64_t>(d) + 1);
  }
  return n.ReshapeTo(n.TransposeBy(n.ReshapeTo(v, parted), perm), to);
}

ValueId BatchAndChannelsExchanged(GradientNode& n, ValueId v) {
  return n.TransposeBy(v, Joined({1, 0}, SpatialAxes(n.shape(v))));
}

// The gradient of weights [M, C / group, kernel...] by which `window` makes of `image` something of `result`'s shape,
// whose gradient that is: a convolution of the image with the result, in which strides and dilations change places.
ValueId WeightGradient(GradientNode& n, ValueId image, ValueId result, const Window& window,
                       int64_t group, const Shape& weights) {
  const ValueId sums =
      n.Op("Conv", {ChannelsAsBatches(n, image, group), BatchAndChannelsExchanged(n, result)},
           {{"group", group},
            {"pads", PadsAttribute(window)},
            {"strides", window.dilations},
            {"dilations", window.strides}});
  return CutTo(n, BatchAndChannelsExchanged(n, sums), weights);
}

void ConvGradient(GradientNode& n) {
  const auto conv = DecodeConv(n.view());
  if (!conv.ok()) return n.Lack(conv.status().message());
  const Window& window = conv->window;
  if (n.wants(0)) {
    // What the last windows do not reach has no gradient.
    std::vector<int64_t> longer;
    for (size_t d = 0; d < window.kernel.size(); ++d) {
      const int64_t reached = (window.output[d] - 1) * window.strides[d] +
                              (window.kernel[d] - 1) * window.dilations[d] + 1 -
                              window.pads_begin[d] - window.pads_end[d];
      longer.push_back(window.input[d] - reached);
    }
    n.Give(0, n.Op("ConvTranspose", {n.dy(), n.x(1)},
                   {{"group", conv->group},
                    {"pads", PadsAttribute(window)},
                    {"strides", window.strides},
                    {"dilations", window.dilations},
                    {"output_padding", longer}}));
  }
  if (n.wants(1)) {
    n.Give(1, WeightGradient(n, n.x(0), n.dy(), window, conv->group, n.view().input_shape(1)));
  }
  if (n.wants(2)) n.Give(2, BiasGradient(n));
}

void ConvTransposeGradient(GradientNode& n) {
  const auto conv = DecodeConvTranspose(n.view());
  if (!conv.ok()) return n.Lack(conv.status().message());
  const Window& window = conv->window;
  if (n.wants(0)) {
    const ValueId all = n.Op("Conv", {n.dy(), n.x(1)},
                             {{"group", conv->group},
                              {"pads", PadsAttribute(window)},
                              {"strides", window.strides},
                              {"dilations", window.dilations}});
    n.Give(0, CutTo(n, all, n.view().input_shape(0)));
  }
  if (n.wants(1)) {
    n.Give(1, WeightGradient(n, n.dy(), n.x(0), window, conv->group, n.view().input_shape(1)));
  }
  if (n.wants(2)) n.Give(2, BiasGradient(n));
}

constexpr GradientRow kRows[] = {{"Conv", ConvGradient}, {"ConvTranspose", ConvTransposeGradient}};

}  // namespace

absl::Status RegisterConvolutionGradients(GradientColumn& column) { return AddRows(kRows, column); }

}  // namespace slipway
