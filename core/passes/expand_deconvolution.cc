// ConvTranspose as a Conv that makes blocks of outputs.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/deconvolution.h"
#include "core/passes/canonicalize_rules.h"
#include "core/passes/expand_rules.h"

namespace slipway {
namespace {

int64_t CeilDivide(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

// One spatial dimension: output q * stride + r is made of the inputs that end at q, by every stride-th tap from r on.
struct Phases {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t skipped = 0;     // Blocks that the padding leaves out.
  int64_t pad_end = 0;     // Of the convolutions.
  int64_t crop_begin = 0;  // Of the blocks beside each other.
  int64_t crop_end = 0;

  int64_t Taps(int64_t r) const { return CeilDivide(kernel - r, stride); }
  int64_t PadBegin(int64_t r) const { return Taps(r) - 1 - skipped; }
  bool AreAlike() const { return kernel % stride == 0; }
};

// `tail` is what the output's extent is more than (the input's - 1) * stride. REQUIRES: kernel >= stride.
Phases PhasesOf(int64_t kernel, int64_t stride, int64_t pad, int64_t tail) {
  Phases phases;
  phases.kernel = kernel;
  phases.stride = stride;
  phases.skipped = std::min(pad / stride, phases.Taps(stride - 1) - 1);
  phases.crop_begin = pad - phases.skipped * stride;
  const int64_t more = CeilDivide(phases.crop_begin + tail, stride) - 1;  // Blocks than inputs.
  phases.pad_end = std::max<int64_t>(0, more + phases.skipped);
  phases.crop_end = (phases.pad_end - phases.skipped + 1) * stride - phases.crop_begin - tail;
  return phases;
}

// Null where the output's extent hangs on one that is open.
std::optional<int64_t> TailOf(const Node& node, const Window& window, size_t d) {
  if (window.input[d] != kOpenExtent && window.output[d] != kOpenExtent) {
    return window.input[d] - (window.output[d] - 1) * window.strides[d];
  }
  if (node.attributes.Find("output_shape") != nullptr) return std::nullopt;
  const auto* auto_pad = node.attributes.FindAs<std::string>("auto_pad");
  if (auto_pad != nullptr && *auto_pad != "NOTSET" && *auto_pad != "VALID") return std::nullopt;
  const auto* more = node.attributes.FindAs<std::vector<int64_t>>("output_padding");
  return window.kernel[d] + (more == nullptr ? 0 : (*more)[d]) - window.pads_begin[d] -
         window.pads_end[d];
}

// Outputs of a block that one convolution makes, those of places [begin, end) in row-major order.
struct Part {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

// All of them where the same taps serve them; others would multiply by zeros, which infinities tell.
std::vector<Part> PartsOf(const Phases& h, const Phases& w) {
  const int64_t block = h.stride * w.stride;
  if (h.AreAlike() && w.AreAlike()) return {{0, block}};
  std::vector<Part> parts;
  for (int64_t place = 0; place < block; ++place) parts.push_back({place, place + 1});
  return parts;
}

// [C, M / group, kernel h, kernel w] as [M * part, C / group, taps h, taps w], where a part's outputs are neighbours.
Tensor PartWeights(const Tensor& weights, int64_t group, const Part& part, const Phases& h,
                   const Phases& w) {
  const absl::Span<const float> from = weights.values<float>();
  const int64_t inputs = weights.shape()[0] / group;
  const int64_t outputs = weights.shape()[1];
  const int64_t taps_h = h.Taps(part.begin / w.stride);
  const int64_t taps_w = w.Taps(part.begin % w.stride);
  std::vector<float> to;
  to.reserve(static_cast<size_t>(group * outputs * part.size() * inputs * taps_h * taps_w));
  for (int64_t m = 0; m < group * outputs; ++m) {
    for (int64_t place = part.begin; place < part.end; ++place) {
      for (int64_t c = 0; c < inputs; ++c) {
        const int64_t channel = m / outputs * inputs + c;
        for (int64_t tap = 0; tap < taps_h * taps_w; ++tap) {
          const int64_t y = place / w.stride + (taps_h - 1 - tap / taps_w) * h.stride;
          const int64_t x = place % w.stride + (taps_w - 1 - tap % taps_w) * w.stride;
          to.push_back(from[static_cast<size_t>(
              ((channel * outputs + m % outputs) * h.kernel + y) * w.kernel + x)]);
        }
      }
    }
  }
  return Tensor::Of<float>({group * outputs * part.size(), inputs, taps_h, taps_w}, to);
}

Tensor PartBias(const Tensor& bias, const Part& part) {
  std::vector<float> to;
  for (const float value : bias.values<float>()) to.insert(to.end(), part.size(), value);
  return Tensor::Of<float>({static_cast<int64_t>(to.size())}, to);
}

// What a node's convolutions have in common.
struct Convolution {
  ValueId x = kNoValue;
  const Tensor& weights;
  const Tensor* bias;  // May be null.
  int64_t group = 1;
  Phases h, w;
  std::string name;
};

// [N, M * part, blocks h, blocks w].
absl::StatusOr<ValueId> AddPart(GraphRewriter& rewriter, const Convolution& all, const Part& part) {
  const int64_t y = part.begin / all.w.stride;
  const int64_t x = part.begin % all.w.stride;
  std::vector<ValueId> inputs = {
      all.x, rewriter.Constant(absl::StrCat(all.name, "_weights"),
                               PartWeights(all.weights, all.group, part, all.h, all.w))};
  if (all.bias != nullptr) {
    inputs.push_back(rewriter.Constant(absl::StrCat(all.name, "_bias"), PartBias(*all.bias, part)));
  }
  using IntList = std::vector<int64_t>;
  return rewriter.Add(
      "Conv", inputs,
      {{"dilations", IntList{1, 1}},
       {"group", all.group},
       {"kernel_shape", IntList{all.h.Taps(y), all.w.Taps(x)}},
       {"pads", IntList{all.h.PadBegin(y), all.w.PadBegin(x), all.h.pad_end, all.w.pad_end}},
       {"strides", IntList{1, 1}}},
      all.name);
}

// [N, M, block, blocks h, blocks w], or without the block where it is one output.
absl::StatusOr<ValueId> AddParts(GraphRewriter& rewriter, const Convolution& all) {
  const std::vector<Part> parts = PartsOf(all.h, all.w);
  std::vector<ValueId> made;
  for (const Part& part : parts) {
    SLIPWAY_ASSIGN_OR_RETURN(ValueId y, AddPart(rewriter, all, part));
    if (all.h.stride * all.w.stride > 1) {
      const Dimensions shape = rewriter.type(y).dimensions();
      SLIPWAY_ASSIGN_OR_RETURN(y, AddReshape(rewriter, y,
                                             {shape[0], FloorDivide(shape[1], part.size()),
                                              part.size(), shape[2], shape[3]},
                                             absl::StrCat(all.name, "_part")));
    }
    made.push_back(y);
  }
  if (made.size() == 1) return made[0];
  return rewriter.Add("Concat", made, {{"axis", int64_t{2}}}, absl::StrCat(all.name, "_parts"));
}

// Blocks, as AddParts makes them, beside each other: [N, M, H, W].
absl::StatusOr<ValueId> SpreadBlocks(GraphRewriter& rewriter, ValueId x, const Phases& h,
                                     const Phases& w, const std::string& name) {
  if (h.stride * w.stride == 1) return x;
  const Dimensions from = rewriter.type(x).dimensions();
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId apart,
      AddReshape(rewriter, x, {from[0], from[1], h.stride, w.stride, from[3], from[4]},
                 absl::StrCat(name, "_blocks")));
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId turned,
      rewriter.Add("Transpose", {apart}, {{"perm", std::vector<int64_t>{0, 1, 4, 2, 5, 3}}},
                   absl::StrCat(name, "_spread")));
  return AddReshape(rewriter, turned, {from[0], from[1], from[3] * h.stride, from[4] * w.stride},
                    absl::StrCat(name, "_whole"));
}

absl::StatusOr<ValueId> Crop(GraphRewriter& rewriter, ValueId x, const Phases& h, const Phases& w,
                             const std::string& name) {
  if (h.crop_begin + h.crop_end + w.crop_begin + w.crop_end == 0) return x;
  const auto end = [](int64_t crop) { return crop == 0 ? kMaxSymbolValue : -crop; };
  const ValueId starts =
      ShapeConstant(rewriter, absl::StrCat(name, "_starts"), {h.crop_begin, w.crop_begin});
  const ValueId ends =
      ShapeConstant(rewriter, absl::StrCat(name, "_ends"), {end(h.crop_end), end(w.crop_end)});
  const ValueId axes = ShapeConstant(rewriter, absl::StrCat(name, "_axes"), {2, 3});
  return rewriter.Add("Slice", {x, starts, ends, axes}, {}, absl::StrCat(name, "_crop"));
}

bool IsServed(const Node& node, const GraphRewriter& rewriter, const ConvTransposeView& view) {
  const Tensor* weights = rewriter.constant(node.inputs[1]);
  if (weights == nullptr || weights->dtype() != DataType::kFloat32) return false;
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  if (has_bias && rewriter.constant(node.inputs[2]) == nullptr) return false;
  const auto is_one = [](int64_t dilation) { return dilation == 1; };
  const std::vector<int64_t>& dilations = view.window.dilations;
  const Dimension made = NumElements(rewriter.type(node.outputs[0]).dimensions());
  const Dimension taken = NumElements(rewriter.type(node.inputs[0]).dimensions());
  return view.window.kernel.size() <= 2 && weights->num_elements() > 0 &&
         std::all_of(dilations.begin(), dilations.end(), is_one) && !made.is_unknown() &&
         made != Dimension(0) && !taken.is_unknown() && taken != Dimension(0);
}

absl::StatusOr<bool> ExpandConvTranspose(const Node& node, GraphRewriter& rewriter,
                                         const OperatorRegistry& registry) {
  ConvTransposeView transposed;
  {
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                             NodeView::Create(rewriter.graph(), node, registry));
    absl::StatusOr<ConvTransposeView> decoded = DecodeConvTranspose(view);
    if (absl::IsUnimplemented(decoded.status())) return false;
    SLIPWAY_ASSIGN_OR_RETURN(transposed, std::move(decoded));
  }
  if (!IsServed(node, rewriter, transposed)) return false;
  const Window& window = transposed.window;
  // One dimension is two, the first of extent 1.
  std::vector<Phases> phases = {PhasesOf(1, 1, 0, 1)};
  for (size_t d = 0; d < window.kernel.size(); ++d) {
    const std::optional<int64_t> tail = TailOf(node, window, d);
    if (!tail.has_value() || window.kernel[d] < window.strides[d]) return false;
    phases.push_back(PhasesOf(window.kernel[d], window.strides[d], window.pads_begin[d], *tail));
  }
  const Phases& h = phases[phases.size() - 2];
  const Phases& w = phases.back();

  const std::string name = DisplayName(rewriter.graph(), node);
  const ValueType result = rewriter.type(node.outputs[0]);
  ValueId x = node.inputs[0];
  const bool flat = result.rank() == 3;
  if (flat) {
    const Dimensions shape = rewriter.type(x).dimensions();
    SLIPWAY_ASSIGN_OR_RETURN(
        x, AddReshape(rewriter, x, {shape[0], shape[1], 1, shape[2]}, absl::StrCat(name, "_2d")));
  }
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  const Tensor weights = *rewriter.constant(node.inputs[1]);
  const Tensor bias = has_bias ? *rewriter.constant(node.inputs[2]) : Tensor();
  SLIPWAY_ASSIGN_OR_RETURN(ValueId y, AddParts(rewriter, {x, weights, has_bias ? &bias : nullptr,
                                                          transposed.group, h, w, name}));
  SLIPWAY_ASSIGN_OR_RETURN(y, SpreadBlocks(rewriter, y, h, w, name));
  SLIPWAY_ASSIGN_OR_RETURN(y, Crop(rewriter, y, h, w, name));
  if (flat) {
    SLIPWAY_ASSIGN_OR_RETURN(
        y, AddReshape(rewriter, y, result.dimensions(), absl::StrCat(name, "_1d")));
  }
  rewriter.Replace(node, y);
  return true;
}

}  // namespace

ExpandRule ConvTransposeRule() { return ExpandConvTranspose; }

}  // namespace slipway
