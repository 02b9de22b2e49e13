#include "core/passes/delay_resize_pass.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/convolution.h"
#include "core/operators/resize.h"
#include "core/passes/canonicalize_rules.h"
#include "core/passes/computed_constant.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {
namespace {

// What an element of a larger image costs that is added to another, in multiply-adds.
constexpr int64_t kCostOfResizedElement = 16;

// Channels [begin, begin + count) of what a convolution reads.
struct Part {
  ValueId value = kNoValue;
  int64_t begin = 0;
  int64_t count = 0;
  ValueId small = kNoValue;  // Where the value is a larger image of that one, to be delayed.
};

class PointwiseConv {
 public:
  PointwiseConv(const Node& node, GraphRewriter& rewriter, const OperatorRegistry& registry)
      : node_(node),
        rewriter_(rewriter),
        registry_(registry),
        name_(DisplayName(rewriter.graph(), node)) {}

  // Whether it is one, and a part of what it reads is better made larger behind it.
  bool Find();
  // What it makes. REQUIRES: Find().
  absl::StatusOr<ValueId> Emit();

 private:
  std::optional<ConvView> View() const;
  const Shape& shape(ValueId id) const { return rewriter_.type(id).shape(); }
  ValueId SmallBehind(ValueId value);
  bool Saves(const Part& part) const;
  Tensor WeightsOf(const std::vector<Part>& parts) const;
  absl::StatusOr<ValueId> Convolve(ValueId x, const std::vector<Part>& parts, bool takes_bias,
                                   const std::string& name);
  absl::StatusOr<ValueId> Together(const std::vector<Part>& parts);
  absl::StatusOr<ValueId> Resized(const Part& part, ValueId x);

  const Node& node_;
  GraphRewriter& rewriter_;
  const OperatorRegistry& registry_;
  const std::string name_;
  std::vector<Part> parts_;
};

std::optional<ConvView> PointwiseConv::View() const {
  if (node_.op != "Conv" || rewriter_.constant(node_.inputs[1]) == nullptr ||
      !rewriter_.type(node_.inputs[0]).is_static() ||
      rewriter_.type(node_.outputs[0]).dtype() != DataType::kFloat32) {
    return std::nullopt;
  }
  const absl::StatusOr<NodeView> view = NodeView::Create(rewriter_.graph(), node_, registry_);
  if (!view.ok()) return std::nullopt;
  const absl::StatusOr<ConvView> conv = DecodeConv(*view);
  if (!conv.ok() || conv->group != 1) return std::nullopt;
  const auto all = [](const auto& values, int64_t wanted) {
    return absl::c_all_of(values, [wanted](int64_t value) { return value == wanted; });
  };
  const auto& window = conv->window;
  if (!all(window.kernel, 1) || !all(window.strides, 1) || window.input != window.output) {
    return std::nullopt;
  }
  return *conv;
}

// What a larger image is made of that nothing else reads; kNoValue where it is none.
ValueId PointwiseConv::SmallBehind(ValueId value) {
  const Node* maker = rewriter_.Producer(value);
  if (maker == nullptr || maker->op != "Resize" || rewriter_.Uses(value) != 1 ||
      !rewriter_.type(maker->inputs[0]).is_static()) {
    return kNoValue;
  }
  const absl::StatusOr<NodeView> view = NodeView::Create(rewriter_.graph(), *maker, registry_);
  if (!view.ok()) return kNoValue;
  const absl::StatusOr<ResizeView> resize = DecodeResize(*view);
  // Every place is a mean of others, whose weights sum to 1: a bias may stay with the convolution.
  if (!resize.ok() || !resize->has_sizes || maker->attributes.Find("axes") != nullptr ||
      resize->aspect != ResizeView::Aspect::kStretch || resize->mode == ResizeView::Mode::kCubic ||
      resize->coordinates == ResizeView::Coordinates::kCropAndResize || resize->antialias) {
    return kNoValue;
  }
  const Shape& small = shape(maker->inputs[0]);
  const Shape& large = shape(value);
  return small[0] == large[0] && small[1] == large[1] ? maker->inputs[0] : kNoValue;
}

bool PointwiseConv::Saves(const Part& part) const {
  const int64_t out_channels = shape(node_.outputs[0])[1];
  const int64_t large = NumElements(shape(part.value)) / part.count;
  const int64_t small = NumElements(shape(part.small)) / part.count;
  const int64_t more_resized = (out_channels - part.count) * large;
  const int64_t added = parts_.size() > 1 ? out_channels * large : 0;
  return (large - small) * out_channels * part.count > more_resized * kCostOfResizedElement + added;
}

bool PointwiseConv::Find() {
  if (!View().has_value()) return false;
  const ValueId x = node_.inputs[0];
  const Node* join = rewriter_.Producer(x);
  std::vector<ValueId> values = {x};
  if (join != nullptr && join->op == "Concat" && rewriter_.Uses(x) == 1) {
    const auto* axis = join->attributes.FindAs<int64_t>("axis");
    const int64_t rank = rewriter_.type(x).rank();
    if (axis != nullptr && (*axis == 1 || *axis == 1 - rank)) values = join->inputs;
  }
  int64_t begin = 0;
  for (const ValueId value : values) {
    if (!rewriter_.type(value).is_static()) return false;
    parts_.push_back({value, begin, shape(value)[1]});
    begin += parts_.back().count;
  }
  bool any = false;
  for (Part& part : parts_) {
    part.small = SmallBehind(part.value);
    if (part.small != kNoValue && !Saves(part)) part.small = kNoValue;
    any |= part.small != kNoValue;
  }
  return any;
}

Tensor PointwiseConv::WeightsOf(const std::vector<Part>& parts) const {
  const Tensor& all = *rewriter_.constant(node_.inputs[1]);
  Shape shape = all.shape();
  const int64_t outputs = shape[0];
  const int64_t inputs = shape[1];
  shape[1] = 0;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const Part& part : parts) {
    ranges.push_back({part.begin, part.count});
    shape[1] += part.count;
  }
  return ComputedConstant(all, {DataType::kFloat32, shape}, [=](const Tensor& from, Tensor& to) {
    const absl::Span<const float> source = from.values<float>();
    float* next = to.mutable_values<float>().data();
    for (int64_t output = 0; output < outputs; ++output) {
      for (const auto& [begin, count] : ranges) {
        next = std::copy_n(source.data() + output * inputs + begin, count, next);
      }
    }
  });
}

absl::StatusOr<ValueId> PointwiseConv::Convolve(ValueId x, const std::vector<Part>& parts,
                                                bool takes_bias, const std::string& name) {
  const ValueId weights = rewriter_.Constant(
      absl::StrCat(rewriter_.graph().values[node_.inputs[1]].name, "_part"), WeightsOf(parts));
  std::vector<ValueId> inputs = {x, weights};
  if (takes_bias && node_.inputs.size() > 2) inputs.push_back(node_.inputs[2]);
  return rewriter_.Add("Conv", std::move(inputs), node_.attributes, name);
}

absl::StatusOr<ValueId> PointwiseConv::Together(const std::vector<Part>& parts) {
  if (parts.size() == 1) return parts[0].value;
  std::vector<ValueId> values;
  for (const Part& part : parts) values.push_back(part.value);
  return rewriter_.Add("Concat", std::move(values), {{"axis", int64_t{1}}},
                       absl::StrCat(name_, "_rest"));
}

absl::StatusOr<ValueId> PointwiseConv::Resized(const Part& part, ValueId x) {
  const Node* resize = rewriter_.Producer(part.value);
  const Attributes attributes = resize->attributes;
  Shape sizes = shape(part.value);
  sizes[1] = shape(x)[1];
  const std::string name = absl::StrCat(name_, "_larger");
  const ValueId constant = ShapeConstant(rewriter_, absl::StrCat(name, "_sizes"), sizes);
  return rewriter_.Add("Resize", {x, kNoValue, kNoValue, constant}, attributes, name);
}

absl::StatusOr<ValueId> PointwiseConv::Emit() {
  std::vector<Part> rest;
  for (const Part& part : parts_) {
    if (part.small == kNoValue) rest.push_back(part);
  }
  ValueId sum = kNoValue;
  if (!rest.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId x, Together(rest));
    SLIPWAY_ASSIGN_OR_RETURN(sum, Convolve(x, rest, /*takes_bias=*/true, name_));
  }
  for (const Part& part : parts_) {
    if (part.small == kNoValue) continue;
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId made, Convolve(part.small, {part}, sum == kNoValue,
                                                          absl::StrCat(name_, "_small")));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId larger, Resized(part, made));
    if (sum == kNoValue) {
      sum = larger;
    } else {
      SLIPWAY_ASSIGN_OR_RETURN(sum, rewriter_.Add("Add", {sum, larger}, {}, name_));
    }
  }
  return sum;
}

}  // namespace

absl::StatusOr<Graph> DelayResize(Graph graph, const PassContext& context) {
  GraphRewriter rewriter(std::move(graph), context.registry);
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    PointwiseConv conv(node, rewriter, context.registry);
    if (!conv.Find()) {
      rewriter.Keep(std::move(node));
      continue;
    }
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId y, conv.Emit());
    rewriter.Replace(node, y);
  }
  return std::move(rewriter).Finish();
}

}  // namespace slipway
