#include "core/passes/alter_layout_pass.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/round_up.h"
#include "core/base/status_macros.h"
#include "core/operators/convolution.h"
#include "core/operators/normalization.h"
#include "core/operators/window.h"
#include "core/passes/blocked_movement.h"
#include "core/passes/blocked_normalization.h"
#include "core/passes/canonicalize_rules.h"
#include "core/passes/channel_layout.h"
#include "core/passes/graph_rewriter.h"
#include "core/passes/pack_constants.h"

namespace slipway {
namespace {

Dimensions BlockedShape(const Dimensions& nchw, int64_t block) {
  return {nchw[0], FloorDivide(nchw[1], block), nchw[2], nchw[3], block};
}

// Whether there is one place a channel, so that both layouts have the same bytes.
bool IsFlat(const Dimensions& nchw) { return nchw[2] == Dimension(1) && nchw[3] == Dimension(1); }

// The attributes of `node` that `op` has too.
absl::StatusOr<Attributes> AttributesFor(absl::string_view op, const Node& node,
                                         const OperatorRegistry& registry) {
  SLIPWAY_ASSIGN_OR_RETURN(const OperatorSchema* schema, registry.Get(op));
  Attributes attributes;
  for (const AttributeSchema& attribute : schema->attributes) {
    if (const Attribute* found = node.attributes.Find(attribute.name)) {
      attributes.Set(attribute.name, *found);
    }
  }
  return attributes;
}

// A kernel one column wider, whose last one is zeros, reads one column more behind the image.
void AddColumn(Window window, Attributes& attributes) {
  ++window.kernel[1];
  ++window.pads_end[1];
  attributes.Set("kernel_shape", window.kernel);
  attributes.Set("pads", PadsAttribute(window));
}

class LayoutAlteration {
 public:
  LayoutAlteration(Graph graph, std::vector<int64_t> blocks, const PassContext& context,
                   const std::vector<int64_t>& channel_blocks,
                   const std::function<bool(const ConvView&)>& packs_few)
      : context_(context),
        channel_blocks_(channel_blocks),
        packs_few_(packs_few),
        outputs_(graph.outputs),
        rewriter_(std::move(graph), context.registry),
        blocks_(std::move(blocks)),
        plain_(blocks_.size(), kNoValue),
        blocked_(blocks_.size()) {}

  absl::StatusOr<Graph> Run();

 private:
  struct Blocked {
    ValueId value = kNoValue;
    int64_t block = 0;
  };

  absl::Status Rewrite(Node& node);
  absl::Status KeepPlain(Node node);
  // Each returns false where the node has to stay plain after all.
  absl::StatusOr<bool> BlockConvolution(const Node& node);
  absl::StatusOr<bool> BlockDepthwise(const Node& node);
  absl::StatusOr<bool> BlockWindow(const Node& node);
  absl::StatusOr<bool> BlockElementwise(const Node& node);
  absl::StatusOr<bool> BlockConcat(const Node& node);
  absl::StatusOr<bool> BlockReduction(const Node& node);
  absl::StatusOr<bool> BlockMovement(const Node& node);
  absl::StatusOr<bool> BlockNormalization(const Node& node);

  // The value in one of the two layouts, by a conversion if it is not there yet. `id` is always a value
  // of the old graph.
  absl::StatusOr<ValueId> AsPlain(ValueId id);
  absl::StatusOr<ValueId> AsBlocked(ValueId id, int64_t block);
  // An operand of a blocked elementwise operator whose output has `channels` channels.
  absl::StatusOr<ValueId> AsElementwiseOperand(ValueId id, int64_t channels, int64_t block);
  absl::Status SetBlocked(const Node& node, absl::string_view op, std::vector<ValueId> inputs,
                          Attributes attributes, int64_t block);
  // The blocked form has more channels than the node, whose plain form is cut out of it.
  absl::Status SetCut(const Node& node, absl::string_view op, std::vector<ValueId> inputs,
                      Attributes attributes, int64_t block);
  bool HasConstantBias(const Node& node) const;
  const LayoutTrait& Layout(const Node& node) const {
    return context_.registry.Find(node.op)->layout;
  }
  // Inputs from the third on: the bias, which is the same in every layout.
  absl::Status AppendBias(const Node& node, std::vector<ValueId>& inputs);

  Dimensions shape(ValueId id) const { return rewriter_.type(id).dimensions(); }
  std::string NameOf(ValueId id) const { return rewriter_.graph().values[id].name; }

  const PassContext& context_;
  const std::vector<int64_t>& channel_blocks_;
  const std::function<bool(const ConvView&)>& packs_few_;
  const std::vector<ValueId> outputs_;
  GraphRewriter rewriter_;
  const std::vector<int64_t> blocks_;  // By value of the old graph; 0 for plain.
  std::vector<ValueId> plain_;         // By value of the old graph: its plain form, if it is there.
  std::vector<Blocked> blocked_;  // By value of the old graph: its blocked form, if it is there.
};

absl::StatusOr<Graph> LayoutAlteration::Run() {
  std::vector<Node> nodes = rewriter_.TakeNodes();
  std::vector<bool> made(blocks_.size(), false);
  for (const Node& node : nodes) {
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) made[id] = true;
    }
  }
  for (size_t id = 0; id < made.size(); ++id) {
    if (!made[id]) plain_[id] = static_cast<ValueId>(id);
  }
  for (Node& node : nodes) SLIPWAY_RETURN_IF_ERROR(Rewrite(node));
  for (const ValueId id : outputs_) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId plain, AsPlain(id));
    if (rewriter_.Resolve(id) != plain) rewriter_.ReplaceOutput(id, plain);
  }
  return std::move(rewriter_).Finish();
}

absl::Status LayoutAlteration::Rewrite(Node& node) {
  absl::StatusOr<bool> done = false;
  switch (LayoutRoleOf(rewriter_.graph(), node, context_.registry)) {
    case LayoutRole::kPlain:
      break;
    case LayoutRole::kConvolution:
      done = BlockConvolution(node);
      break;
    case LayoutRole::kWindow:
      done = BlockWindow(node);
      break;
    case LayoutRole::kSpatialReduction:
      done = BlockReduction(node);
      break;
    case LayoutRole::kElementwise:
      done = BlockElementwise(node);
      break;
    case LayoutRole::kConcat:
      done = BlockConcat(node);
      break;
    case LayoutRole::kNormalization:
      done = BlockNormalization(node);
      break;
    case LayoutRole::kSlice:
    case LayoutRole::kSplit:
    case LayoutRole::kResize:
    case LayoutRole::kPad:
      done = BlockMovement(node);
      break;
  }
  SLIPWAY_RETURN_IF_ERROR(done.status());
  return *done ? absl::OkStatus() : KeepPlain(std::move(node));
}

absl::Status LayoutAlteration::KeepPlain(Node node) {
  // A Reshape of a blocked tensor without height and width may read it as it is.
  if ((node.op == "Reshape" || node.op == "slipway.View") && plain_[node.inputs[0]] == kNoValue) {
    const Dimensions from = shape(node.inputs[0]);
    if (from.size() == 4 && IsFlat(from) && NumElements(shape(node.outputs[0])) != Dimension(0)) {
      plain_[node.outputs[0]] = node.outputs[0];
      node.inputs[0] = blocked_[node.inputs[0]].value;
      rewriter_.Keep(std::move(node));
      return absl::OkStatus();
    }
  }
  for (ValueId& id : node.inputs) {
    if (id == kNoValue) continue;
    SLIPWAY_ASSIGN_OR_RETURN(id, AsPlain(id));
  }
  for (const ValueId id : node.outputs) {
    if (id != kNoValue) plain_[id] = id;
  }
  rewriter_.Keep(std::move(node));
  return absl::OkStatus();
}

absl::StatusOr<ValueId> LayoutAlteration::AsPlain(ValueId id) {
  if (plain_[id] != kNoValue) return plain_[id];
  const std::string name = absl::StrCat(NameOf(id), "_nchw");
  if (IsFlat(shape(id))) {
    SLIPWAY_ASSIGN_OR_RETURN(plain_[id],
                             AddReshape(rewriter_, blocked_[id].value, shape(id), name));
  } else {
    SLIPWAY_ASSIGN_OR_RETURN(plain_[id], rewriter_.Add("slipway.Unpack", {blocked_[id].value},
                                                       {{"block", blocked_[id].block}}, name));
  }
  return plain_[id];
}

absl::StatusOr<ValueId> LayoutAlteration::AsBlocked(ValueId id, int64_t block) {
  if (blocked_[id].block == block) return blocked_[id].value;
  const std::string name = absl::StrCat(NameOf(id), "_nchw", block, "c");
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId plain, AsPlain(id));
  ValueId value = kNoValue;
  if (const Tensor* constant = rewriter_.constant(id)) {
    value = rewriter_.Constant(name, PackChannels(*constant, block));
  } else if (IsFlat(shape(id))) {
    SLIPWAY_ASSIGN_OR_RETURN(value,
                             AddReshape(rewriter_, plain, BlockedShape(shape(id), block), name));
  } else {
    SLIPWAY_ASSIGN_OR_RETURN(value,
                             rewriter_.Add("slipway.Pack", {plain}, {{"block", block}}, name));
  }
  // Two blocks of one value are rare; the last one asked for is remembered.
  blocked_[id] = {value, block};
  return value;
}

absl::Status LayoutAlteration::SetBlocked(const Node& node, absl::string_view op,
                                          std::vector<ValueId> inputs, Attributes attributes,
                                          int64_t block) {
  const ValueId y = node.outputs[0];
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId blocked,
                           rewriter_.Add(op, std::move(inputs), std::move(attributes),
                                         DisplayName(rewriter_.graph(), node)));
  if (!SameExtents(shape(blocked), BlockedShape(shape(y), block))) {
    return absl::InternalError(absl::StrCat("the blocked form of node \"", node.name, "\" (",
                                            node.op, ") has the shape ", ToString(shape(blocked))));
  }
  blocked_[y] = {blocked, block};
  return absl::OkStatus();
}

absl::Status LayoutAlteration::AppendBias(const Node& node, std::vector<ValueId>& inputs) {
  if (node.inputs.size() <= 2 || node.inputs[2] == kNoValue) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId bias, AsPlain(node.inputs[2]));
  inputs.push_back(bias);
  return absl::OkStatus();
}

absl::StatusOr<bool> LayoutAlteration::BlockConvolution(const Node& node) {
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                           NodeView::Create(rewriter_.graph(), node, context_.registry));
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(view));
  if (IsDepthwise(conv)) return BlockDepthwise(node);
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  Tensor weights = *rewriter_.constant(node.inputs[1]);
  const int64_t group = conv.group;
  const int64_t in_channels = weights.shape()[1];
  const int64_t out_channels = weights.shape()[0] / group;
  int64_t out_block = blocks_[y] != 0 && out_channels % blocks_[y] == 0
                          ? blocks_[y]
                          : BlockDividing(out_channels, channel_blocks_);
  const bool is_cut = out_block == 0;
  if (is_cut) {
    if (group > 1 || !HasConstantBias(node)) return false;
    out_block = BlockCovering(out_channels, channel_blocks_);
    weights = ExtendByZeros(weights, 0, RoundUp(out_channels, out_block));
  }
  int64_t in_block = 0;
  if (shape(x)[1].extent() > kFewChannels) {
    in_block = blocks_[x] != 0 && in_channels % blocks_[x] == 0
                   ? blocks_[x]
                   : BlockDividing(in_channels, channel_blocks_);
  }
  if (in_block == 0 && group > 1) return false;
  const bool is_moved = rewriter_.constant(x) == nullptr && !IsFlat(shape(x));
  const bool packs_few = in_block == 0 && !conv.is_integer && is_moved &&
                         shape(x)[1].extent() <= kFewChannels && packs_few_ && packs_few_(conv);
  if (packs_few) {
    in_block = kFewChannels;
    weights = ExtendByZeros(weights, 1, in_block);
  }
  // A plain input gives pairs of columns, which have to lie side by side.
  const bool has_column_pairs = in_block == 0 && conv.is_integer;
  if (has_column_pairs && conv.window.dilations[1] != 1) return false;

  std::vector<ValueId> inputs;
  const std::string name = absl::StrCat(NameOf(node.inputs[1]), "_packed");
  if (in_block == 0) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId plain, AsPlain(x));
    inputs = {plain, rewriter_.Constant(name, PackConvWeightsForPlainInput(weights, out_block))};
  } else {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId blocked, AsBlocked(x, in_block));
    inputs = {blocked, rewriter_.Constant(name, PackConvWeights(weights, in_block, out_block))};
  }
  SLIPWAY_RETURN_IF_ERROR(AppendBias(node, inputs));
  const std::string& op = Layout(node).blocked;
  SLIPWAY_ASSIGN_OR_RETURN(Attributes attributes, AttributesFor(op, node, context_.registry));
  if (has_column_pairs && conv.window.kernel[1] % 2 != 0) AddColumn(conv.window, attributes);
  if (is_cut) {
    if (inputs.size() > 2) {
      inputs[2] = rewriter_.Constant(
          absl::StrCat(NameOf(inputs[2]), "_covered"),
          ExtendByZeros(*rewriter_.constant(inputs[2]), 0, RoundUp(out_channels, out_block)));
    }
    SLIPWAY_RETURN_IF_ERROR(SetCut(node, op, std::move(inputs), std::move(attributes), out_block));
  } else {
    SLIPWAY_RETURN_IF_ERROR(
        SetBlocked(node, op, std::move(inputs), std::move(attributes), out_block));
  }
  return true;
}

bool LayoutAlteration::HasConstantBias(const Node& node) const {
  return node.inputs.size() <= 2 || node.inputs[2] == kNoValue ||
         rewriter_.constant(node.inputs[2]) != nullptr;
}

absl::Status LayoutAlteration::SetCut(const Node& node, absl::string_view op,
                                      std::vector<ValueId> inputs, Attributes attributes,
                                      int64_t block) {
  const ValueId y = node.outputs[0];
  const std::string name = DisplayName(rewriter_.graph(), node);
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId blocked,
                           rewriter_.Add(op, std::move(inputs), std::move(attributes), name));
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId whole,
      rewriter_.Add("slipway.Unpack", {blocked}, {{"block", block}}, absl::StrCat(name, "_nchw")));
  const auto bound = [&](absl::string_view what, int64_t number) {
    return ShapeConstant(rewriter_, absl::StrCat(name, "_", what), {number});
  };
  SLIPWAY_ASSIGN_OR_RETURN(
      plain_[y],
      rewriter_.Add(
          "Slice", {whole, bound("begin", 0), bound("end", shape(y)[1].extent()), bound("axis", 1)},
          {}, absl::StrCat(name, "_cut")));
  return absl::OkStatus();
}

absl::StatusOr<bool> LayoutAlteration::BlockDepthwise(const Node& node) {
  const int64_t block = blocks_[node.outputs[0]];
  if (block == 0) return false;
  const Tensor weights = *rewriter_.constant(node.inputs[1]);
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId x, AsBlocked(node.inputs[0], block));
  std::vector<ValueId> inputs = {x,
                                 rewriter_.Constant(absl::StrCat(NameOf(node.inputs[1]), "_packed"),
                                                    PackDepthwiseWeights(weights, block))};
  SLIPWAY_RETURN_IF_ERROR(AppendBias(node, inputs));
  const std::string& op = Layout(node).blocked_depthwise;
  SLIPWAY_ASSIGN_OR_RETURN(Attributes attributes, AttributesFor(op, node, context_.registry));
  SLIPWAY_RETURN_IF_ERROR(SetBlocked(node, op, std::move(inputs), std::move(attributes), block));
  return true;
}

absl::StatusOr<bool> LayoutAlteration::BlockWindow(const Node& node) {
  const int64_t block = blocks_[node.outputs[0]];
  if (block == 0) return false;
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId x, AsBlocked(node.inputs[0], block));
  const std::string& op = Layout(node).blocked;
  SLIPWAY_ASSIGN_OR_RETURN(Attributes attributes, AttributesFor(op, node, context_.registry));
  SLIPWAY_RETURN_IF_ERROR(SetBlocked(node, op, {x}, std::move(attributes), block));
  return true;
}

absl::StatusOr<bool> LayoutAlteration::BlockReduction(const Node& node) {
  const int64_t block = blocks_[node.outputs[0]];
  if (block == 0) return false;
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId x, AsBlocked(node.inputs[0], block));
  SLIPWAY_RETURN_IF_ERROR(SetBlocked(node, node.op, {x, node.inputs[1]}, node.attributes, block));
  return true;
}

absl::StatusOr<ValueId> LayoutAlteration::AsElementwiseOperand(ValueId id, int64_t channels,
                                                               int64_t block) {
  const Dimensions operand = shape(id);
  if (NumElements(operand) == Dimension(1)) return AsPlain(id);
  Dimensions shape(4 - operand.size(), 1);  // As broadcasting aligns it.
  shape.insert(shape.end(), operand.begin(), operand.end());
  if (const Tensor* constant = rewriter_.constant(id)) {
    SLIPWAY_ASSIGN_OR_RETURN(const Tensor aligned, constant->Reshaped(*KnownShape(shape)));
    const int64_t own_block = shape[1] == Dimension(channels) ? block : 1;
    return rewriter_.Constant(absl::StrCat(NameOf(id), "_nchw", own_block, "c"),
                              PackChannels(aligned, own_block));
  }
  if (shape[1] == Dimension(channels)) return AsBlocked(id, block);
  // One channel for all: the same bytes with an innermost dimension of 1.
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId plain, AsPlain(id));
  return AddReshape(rewriter_, plain, BlockedShape(shape, 1), absl::StrCat(NameOf(id), "_nchw1c"));
}

absl::StatusOr<bool> LayoutAlteration::BlockElementwise(const Node& node) {
  const ValueId y = node.outputs[0];
  const int64_t block = blocks_[y];
  if (block == 0) return false;
  std::vector<ValueId> inputs;
  for (const ValueId id : node.inputs) {
    if (id == kNoValue) {
      inputs.push_back(kNoValue);
      continue;
    }
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId operand,
                             AsElementwiseOperand(id, shape(y)[1].extent(), block));
    inputs.push_back(operand);
  }
  SLIPWAY_RETURN_IF_ERROR(SetBlocked(node, node.op, std::move(inputs), node.attributes, block));
  return true;
}

absl::StatusOr<bool> LayoutAlteration::BlockConcat(const Node& node) {
  const ValueId y = node.outputs[0];
  const int64_t block = blocks_[y];
  if (block == 0 || !absl::c_all_of(node.inputs, [&](ValueId id) {
        return shape(id)[1].extent() % block == 0;
      })) {
    return false;
  }
  int64_t axis = *node.attributes.FindAs<int64_t>("axis");
  if (axis < 0) axis += 4;
  std::vector<ValueId> inputs;
  for (const ValueId id : node.inputs) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId blocked, AsBlocked(id, block));
    inputs.push_back(blocked);
  }
  SLIPWAY_RETURN_IF_ERROR(SetBlocked(node, node.op, std::move(inputs), {{"axis", axis}}, block));
  return true;
}

absl::StatusOr<bool> LayoutAlteration::BlockMovement(const Node& node) {
  const ValueId x = node.inputs[0];
  const int64_t block = blocks_[x];
  if (block == 0) return false;
  const auto ranges = MovedChannels(rewriter_.graph(), node, context_.registry);
  for (size_t i = 0; i < ranges->size(); ++i) {
    const std::optional<ChannelRange>& range = (*ranges)[i];
    if (!range.has_value()) continue;
    if (blocks_[node.outputs[i]] != block || range->begin % block != 0 ||
        range->count % block != 0) {
      return false;
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId blocked, AsBlocked(x, block));
  for (size_t i = 0; i < ranges->size(); ++i) {
    const std::optional<ChannelRange>& range = (*ranges)[i];
    if (!range.has_value()) continue;
    SLIPWAY_ASSIGN_OR_RETURN(
        blocked_[node.outputs[i]].value,
        AddBlockedMovement(rewriter_, node, i, *range, blocked, block, context_.registry));
    blocked_[node.outputs[i]].block = block;
  }
  return true;
}

absl::StatusOr<bool> LayoutAlteration::BlockNormalization(const Node& node) {
  const ValueId y = node.outputs[0];
  const int64_t block = blocks_[y];
  if (block == 0) return false;
  const Dimensions nchw = shape(y);
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                           NodeView::Create(rewriter_.graph(), node, context_.registry));
  BlockedNormalization normalization = {.channels = nchw[1].extent(), .block = block};
  if (node.op == "GroupNormalization") {
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t groups, DecodeGroupNormalization(view));
    normalization.group = normalization.channels / groups;
  }
  normalization.epsilon = view.Float("epsilon");
  SLIPWAY_ASSIGN_OR_RETURN(normalization.x, AsBlocked(node.inputs[0], block));
  SLIPWAY_ASSIGN_OR_RETURN(normalization.scale, AsPlain(node.inputs[1]));
  SLIPWAY_ASSIGN_OR_RETURN(normalization.bias, AsPlain(node.inputs[2]));
  SLIPWAY_ASSIGN_OR_RETURN(
      blocked_[y].value,
      AddBlockedNormalization(rewriter_, normalization, DisplayName(rewriter_.graph(), node)));
  blocked_[y].block = block;
  return true;
}

}  // namespace

absl::StatusOr<Graph> AlterLayout(Graph graph, const PassContext& context,
                                  const std::vector<int64_t>& channel_blocks,
                                  const std::function<bool(const ConvView&)>& packs_few) {
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<int64_t> blocks,
                           ChooseChannelBlocks(graph, context, channel_blocks));
  return LayoutAlteration(std::move(graph), std::move(blocks), context, channel_blocks, packs_few)
      .Run();
}

}  // namespace slipway
