#include "core/passes/pad_channels_pass.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/round_up.h"
#include "core/base/status_macros.h"
#include "core/operators/convolution.h"
#include "core/passes/channel_layout.h"
#include "core/passes/disjoint_sets.h"
#include "core/passes/graph_rewriter.h"
#include "core/passes/pack_constants.h"

namespace slipway {
namespace {

// Elementwise operators that make finite numbers of finite ones: nothing else may come of a new channel, whose weights are 0.
constexpr absl::string_view kFinite[] = {
    "Abs",      "Add",  "Celu",        "Clip",      "Elu",
    "Erf",      "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu",
    "Max",      "Min",  "Mish",        "Mul",       "Neg",
    "PRelu",    "Relu", "Selu",        "Sigmoid",   "Softplus",
    "Softsign", "Sub",  "Swish",       "Tanh",      "ThresholdedRelu"};

// What is gained has to be more than what a model of multiply-adds alone leaves out.
constexpr double kLeastGain = 1.05;

// A plain convolution's vectors are of neighbours in a row, which is no faster than small blocks.
constexpr int64_t kBlockOfPlain = 4;

constexpr int kChannelAxis = 1;
constexpr int kImageRank = 4;

// Of an image; 0 for anything else.
int64_t ChannelsOf(const Graph& graph, ValueId id) {
  const ValueType& type = *graph.values[id].type;
  if (type.rank() != kImageRank || !type.dimension(kChannelAxis).is_known()) return 0;
  return type.dimension(kChannelAxis).extent();
}

// Values that have their channels in common, and what is known of each such set.
class ChannelSets {
 public:
  explicit ChannelSets(const Graph& graph)
      : sets_(graph.values.size()), facts_(graph.values.size()) {}

  void Join(ValueId a, ValueId b) {
    const size_t to = sets_.Find(a), from = sets_.Find(b);
    if (to == from) return;
    sets_.Join(to, from);
    facts_[to].stays = facts_[to].stays || facts_[from].stays;
    facts_[to].made += facts_[from].made;
    facts_[to].read += facts_[from].read;
  }
  // Its channels are as many as they were.
  void Keep(ValueId id) { facts_[sets_.Find(id)].stays = true; }
  // Multiply-adds of convolutions that make it, vectors of whose results are of its channels, and of those that read it.
  void AddMade(ValueId id, double multiply_adds) { facts_[sets_.Find(id)].made += multiply_adds; }
  void AddRead(ValueId id, double multiply_adds) { facts_[sets_.Find(id)].read += multiply_adds; }

  // The channels that it should have.
  int64_t Channels(ValueId id, int64_t channels, const std::vector<int64_t>& blocks,
                   int64_t vector) {
    const Facts& facts = facts_[sets_.Find(id)];
    const int64_t padded = RoundUp(channels, vector);
    if (facts.stays || facts.made == 0 || padded == channels) return channels;
    const int64_t dividing = BlockDividing(channels, blocks);
    const auto block =
        static_cast<double>(std::min(dividing == 0 ? kBlockOfPlain : dividing, vector));
    const double before = facts.made * static_cast<double>(vector) / block + facts.read;
    const double after =
        (facts.made + facts.read) * static_cast<double>(padded) / static_cast<double>(channels);
    return after * kLeastGain < before ? padded : channels;
  }

 private:
  struct Facts {
    bool stays = false;
    double made = 0;
    double read = 0;
  };

  DisjointSets sets_;
  std::vector<Facts> facts_;
};

class ChannelPadding {
 public:
  ChannelPadding(Graph graph, const PassContext& context)
      : context_(context), sets_(graph), rewriter_(std::move(graph), context.registry) {}

  absl::StatusOr<Graph> Run(const std::vector<int64_t>& blocks, int64_t vector);

 private:
  absl::Status Learn(const Node& node);
  absl::Status LearnConvolution(const Node& node);
  // By one that is not 0 and the same for all elements.
  bool DividesByNumber(const Node& node) const;
  // False where the node's operands do not all have its channels.
  bool LearnElementwise(const Node& node);
  void KeepAll(const Node& node);
  absl::StatusOr<ConvView> Decode(const Node& node) const;

  absl::Status Rewrite(Node& node);
  absl::StatusOr<std::vector<ValueId>> ConvolutionInputs(const Node& node, Attributes& attributes);
  std::vector<ValueId> OtherInputs(const Node& node);
  // A constant whose first dimensions are as long as `extents`, by zeros; 0: as they are.
  ValueId Extended(ValueId id, const std::vector<int64_t>& extents);
  bool IsPadded(ValueId id) const { return id != kNoValue && channels_[id] != 0; }

  const Graph& graph() const { return rewriter_.graph(); }
  // Of the old graph, and what stands for it now.
  ValueId Now(ValueId id) const { return IsPadded(id) ? padded_[id] : rewriter_.Resolve(id); }

  const PassContext& context_;
  ChannelSets sets_;
  GraphRewriter rewriter_;
  std::vector<int64_t>
      channels_;  // By value of the old graph: those that it gets; 0 where they stay.
  std::vector<ValueId> padded_;  // By value of the old graph: the one with more channels.
};

void ChannelPadding::KeepAll(const Node& node) {
  for (const std::vector<ValueId>* ids : {&node.inputs, &node.outputs}) {
    for (const ValueId id : *ids) {
      if (id != kNoValue) sets_.Keep(id);
    }
  }
}

absl::StatusOr<ConvView> ChannelPadding::Decode(const Node& node) const {
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph(), node, context_.registry));
  return DecodeConv(view);
}

absl::Status ChannelPadding::LearnConvolution(const Node& node) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, Decode(node));
  const Tensor* const weights = rewriter_.constant(node.inputs[1]);
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  const bool is_constant = weights != nullptr && weights->dtype() == DataType::kFloat32 &&
                           (!has_bias || rewriter_.constant(node.inputs[2]) != nullptr);
  const bool is_depthwise = IsDepthwise(conv);
  const ValueId x = node.inputs[0], y = node.outputs[0];
  if (!is_constant || (conv.group > 1 && !is_depthwise)) {
    KeepAll(node);
    return absl::OkStatus();
  }
  // Of one image.
  double multiply_adds = static_cast<double>(conv.out_channels * conv.in_channels / conv.group);
  for (const std::vector<int64_t>* extents : {&conv.window.kernel, &conv.window.output}) {
    for (const int64_t extent : *extents) multiply_adds *= static_cast<double>(extent);
  }
  if (is_depthwise) {
    sets_.Join(x, y);
  } else {
    sets_.AddRead(x, multiply_adds);
  }
  sets_.AddMade(y, multiply_adds);
  return absl::OkStatus();
}

bool ChannelPadding::DividesByNumber(const Node& node) const {
  const Tensor* const divisor = node.op == "Div" ? rewriter_.constant(node.inputs[1]) : nullptr;
  return divisor != nullptr && divisor->num_elements() == 1 && divisor->values<float>()[0] != 0;
}

bool ChannelPadding::LearnElementwise(const Node& node) {
  if (!absl::c_linear_search(kFinite, node.op) && !DividesByNumber(node)) return false;
  const ValueId y = node.outputs[0];
  const int64_t channels = ChannelsOf(graph(), y);
  for (const ValueId id : node.inputs) {
    if (id == kNoValue || rewriter_.constant(id) != nullptr) continue;
    if (ChannelsOf(graph(), id) == channels) {
      sets_.Join(id, y);
    } else {
      // It is broadcast.
      sets_.Keep(id);
    }
  }
  return true;
}

absl::Status ChannelPadding::Learn(const Node& node) {
  const bool is_float = absl::c_all_of(node.outputs, [&](ValueId id) {
    return id == kNoValue || graph().values[id].type->dtype() == DataType::kFloat32;
  });
  const LayoutRole role =
      is_float ? LayoutRoleOf(graph(), node, context_.registry) : LayoutRole::kPlain;
  switch (role) {
    case LayoutRole::kConvolution:
      return LearnConvolution(node);
    case LayoutRole::kWindow:
    case LayoutRole::kSpatialReduction:
      sets_.Join(node.inputs[0], node.outputs[0]);
      return absl::OkStatus();
    case LayoutRole::kElementwise:
      if (LearnElementwise(node)) return absl::OkStatus();
      break;
    default:
      break;
  }
  KeepAll(node);
  return absl::OkStatus();
}

ValueId ChannelPadding::Extended(ValueId id, const std::vector<int64_t>& extents) {
  if (absl::c_all_of(extents, [](int64_t extent) { return extent == 0; })) return id;
  Tensor constant = *rewriter_.constant(id);
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] != 0) constant = ExtendByZeros(constant, axis, extents[axis]);
  }
  return rewriter_.Constant(absl::StrCat(graph().values[id].name, "_padded"), std::move(constant));
}

absl::StatusOr<std::vector<ValueId>> ChannelPadding::ConvolutionInputs(const Node& node,
                                                                       Attributes& attributes) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, Decode(node));
  const ValueId x = node.inputs[0], y = node.outputs[0];
  const bool is_depthwise = IsDepthwise(conv);
  if (is_depthwise) attributes.Set("group", channels_[y]);
  std::vector<ValueId> inputs = {
      Now(x), Extended(node.inputs[1], {channels_[y], is_depthwise ? 0 : channels_[x]})};
  if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
    inputs.push_back(Extended(node.inputs[2], {channels_[y]}));
  }
  return inputs;
}

// Constants have as many channels as the image has now.
std::vector<ValueId> ChannelPadding::OtherInputs(const Node& node) {
  const ValueId y = node.outputs[0];
  const int64_t channels = ChannelsOf(graph(), y);
  std::vector<ValueId> inputs;
  for (const ValueId id : node.inputs) {
    const Tensor* const constant = id == kNoValue ? nullptr : rewriter_.constant(id);
    if (constant == nullptr) {
      inputs.push_back(id == kNoValue ? kNoValue : Now(id));
      continue;
    }
    const int axis = static_cast<int>(constant->shape().size()) - (kImageRank - kChannelAxis);
    std::vector<int64_t> extents;
    if (axis >= 0 && constant->shape()[axis] == channels && channels > 1) {
      extents.resize(static_cast<size_t>(axis));
      extents.push_back(channels_[y]);
    }
    inputs.push_back(Extended(id, extents));
  }
  return inputs;
}

absl::Status ChannelPadding::Rewrite(Node& node) {
  const ValueId y = node.outputs.empty() ? kNoValue : node.outputs[0];
  const bool reads = absl::c_any_of(node.inputs, [&](ValueId id) { return IsPadded(id); });
  if (!reads && !IsPadded(y)) {
    rewriter_.Resolve(node);
    rewriter_.Keep(std::move(node));
    return absl::OkStatus();
  }
  Attributes attributes = node.attributes;
  std::vector<ValueId> inputs;
  if (LayoutRoleOf(graph(), node, context_.registry) == LayoutRole::kConvolution) {
    SLIPWAY_ASSIGN_OR_RETURN(inputs, ConvolutionInputs(node, attributes));
  } else {
    inputs = OtherInputs(node);
  }
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId made,
      rewriter_.Add(node.op, std::move(inputs), std::move(attributes), DisplayName(graph(), node)));
  if (IsPadded(y)) {
    padded_[y] = made;
    rewriter_.Release(node);
  } else {
    rewriter_.Replace(node, made);
  }
  return absl::OkStatus();
}

absl::StatusOr<Graph> ChannelPadding::Run(const std::vector<int64_t>& blocks, int64_t vector) {
  for (const ValueId id : graph().inputs) sets_.Keep(id);
  for (const ValueId id : graph().outputs) sets_.Keep(id);
  for (const Node& node : graph().nodes) SLIPWAY_RETURN_IF_ERROR(Learn(node));
  channels_.resize(graph().values.size());
  padded_.resize(graph().values.size(), kNoValue);
  for (const Node& node : graph().nodes) {
    for (const ValueId id : node.outputs) {
      const int64_t channels = id == kNoValue ? 0 : ChannelsOf(graph(), id);
      if (channels == 0) continue;
      const int64_t wanted = sets_.Channels(id, channels, blocks, vector);
      if (wanted != channels) channels_[id] = wanted;
    }
  }
  for (Node& node : rewriter_.TakeNodes()) SLIPWAY_RETURN_IF_ERROR(Rewrite(node));
  return std::move(rewriter_).Finish();
}

}  // namespace

absl::StatusOr<Graph> PadChannels(Graph graph, const PassContext& context,
                                  const std::vector<int64_t>& channel_blocks, int64_t vector) {
  return ChannelPadding(std::move(graph), context).Run(channel_blocks, vector);
}

}  // namespace slipway
