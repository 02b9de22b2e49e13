#include "core/operators/pooling.h"

#include <cstdint>
#include <vector>

#include "core/operators/window.h"
#include "core/passes/gradients/families.h"

namespace slipway {
namespace {

// Each output is one element of the input, whose place ONNX can tell.
void MaxPoolGradient(GradientNode& n) {
  if (n.view().Int("storage_order") != 0) return n.Lack("\"storage_order\" = 1");
  const Shape x = n.view().input_shape(0);
  const Shape flat = {n.view().input_type(0).num_elements()};
  const ValueId places = n.y(1);
  const Shape made = {NumElements(n.shape(places))};
  const ValueId sums = n.Op(
      "ScatterElements", {n.Filled(flat, 0), n.ReshapeTo(places, made), n.ReshapeTo(n.dy(), made)},
      {{"axis", int64_t{0}}, {"reduction", std::string("add")}});
  n.Give(0, n.ReshapeTo(sums, x));
}

Attributes WindowAttributes(const Window& window) {
  return {{"pads", PadsAttribute(window)}, {"strides", window.strides}};
}

// A channel at a time, every window gives each of its elements the same share.
void AveragePoolGradient(GradientNode& n) {
  const auto pool = DecodePool(n.view());
  if (!pool.ok()) return n.Lack(pool.status().message());
  const Window& window = pool->window;
  const Shape x = n.view().input_shape(0);
  Shape kernel = {x[1], 1};
  Shape one_image = {1, 1};
  double elements = 1;
  std::vector<int64_t> longer;
  for (size_t d = 0; d < window.kernel.size(); ++d) {
    kernel.push_back(window.kernel[d]);
    one_image.push_back(window.input[d]);
    elements *= static_cast<double>(window.kernel[d]);
    const int64_t reached = (window.output[d] - 1) * window.strides[d] +
                            (window.kernel[d] - 1) * window.dilations[d] + 1 -
                            window.pads_begin[d] - window.pads_end[d];
    if (reached > window.input[d])
      return n.Lack("windows that reach behind the padding (ceil_mode)");
    longer.push_back(window.input[d] - reached);
  }
  // How many elements each window has, where pads do not count.
  ValueId count = n.Number(elements);
  Attributes attributes = WindowAttributes(window);
  attributes.Set("dilations", window.dilations);
  if (!pool->count_include_pad) {
    Shape one_kernel = kernel;
    one_kernel[0] = 1;
    count = n.Op("Conv", {n.Filled(one_image, 1), n.Filled(one_kernel, 1)}, attributes);
  }
  attributes.Set("group", x[1]);
  attributes.Set("output_padding", longer);
  n.Give(0, n.Op("ConvTranspose", {n.Div(n.dy(), count), n.Filled(kernel, 1)}, attributes));
}

void GlobalAverageGradient(GradientNode& n) {
  const Shape& x = n.view().input_shape(0);
  const double elements = static_cast<double>(NumElements(x)) / static_cast<double>(x[0] * x[1]);
  n.Give(0, n.Times(n.dy(), 1 / elements));
}

void GlobalMaxGradient(GradientNode& n) {
  std::vector<int64_t> axes;
  for (int d = 2; d < n.view().input_type(0).rank(); ++d) axes.push_back(d);
  const ValueId mask = n.Mask(n.Op("Equal", {n.x(0), n.y()}));
  n.Give(0, n.Mul(mask, n.Div(n.dy(), n.Reduce("ReduceSum", mask, axes))));
}

constexpr GradientRow kRows[] = {{"AveragePool", AveragePoolGradient},
                                 {"GlobalAveragePool", GlobalAverageGradient},
                                 {"GlobalMaxPool", GlobalMaxGradient},
                                 {"MaxPool", MaxPoolGradient}};

}  // namespace

absl::Status RegisterPoolingGradients(GradientColumn& column) { return AddRows(kRows, column); }

}  // namespace slipway
