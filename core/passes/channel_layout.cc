#include "core/passes/channel_layout.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "core/base/status_macros.h"
#include "core/passes/blocked_movement.h"
#include "core/passes/disjoint_sets.h"

namespace slipway {
namespace {

// What blocks may be made of: f32, and the integers that quantized models have.
bool IsBlockable(DataType dtype) {
  switch (dtype) {
    case DataType::kFloat32:
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kInt16:
    case DataType::kInt32:
      return true;
    default:
      return false;
  }
}

// [N, C, H, W], all of whose extents are known but perhaps N's, and none is 0.
bool IsImage(const Graph& graph, ValueId id) {
  const ValueType& type = *graph.values[id].type;
  if (!IsBlockable(type.dtype()) || type.rank() != 4) return false;
  if (type.dimension(0).is_unknown() || type.dimension(0) == Dimension(0)) return false;
  for (int d = 1; d < 4; ++d) {
    if (!type.dimension(d).is_known() || type.dimension(d).extent() == 0) return false;
  }
  return true;
}

bool IsConstant(const Graph& graph, ValueId id) { return graph.values[id].constant.has_value(); }

int64_t Channels(const Graph& graph, ValueId id) {
  return graph.values[id].type->dimension(1).extent();
}

// Inputs of rank 4 with all the channels follow the output's layout; constants are repacked; what has
// one channel, or one element in all, broadcasts in either layout.
bool ElementwiseFits(const Graph& graph, const Node& node) {
  const ValueId y = node.outputs[0];
  bool any = false;
  // A scale for each place along an axis is not broadcast as others are.
  const bool is_scaled = node.op == "QuantizeLinear" || node.op == "DequantizeLinear";
  if (is_scaled && NumElements(graph.values[node.inputs[1]].type->dimensions()) != Dimension(1)) {
    return false;
  }
  for (const ValueId id : node.inputs) {
    if (id == kNoValue) continue;
    const ValueType& type = *graph.values[id].type;
    const Dimension elements = NumElements(type.dimensions());
    if (!IsBlockable(type.dtype()) || elements == Dimension(0)) return false;
    if (elements == Dimension(1) && type.rank() <= 4) continue;
    if (IsConstant(graph, id) ? type.rank() > 4 : !IsImage(graph, id)) return false;
    any |= !IsConstant(graph, id) && Channels(graph, id) == Channels(graph, y);
  }
  return any;
}

bool IsFloat(const Graph& graph, ValueId id) {
  return graph.values[id].type->dtype() == DataType::kFloat32;
}

bool ReducesSpaceOnly(const Graph& graph, const Node& node) {
  if (!IsFloat(graph, node.inputs[0])) return false;
  const int64_t* keepdims = node.attributes.FindAs<int64_t>("keepdims");
  if (keepdims != nullptr && *keepdims == 0) return false;
  if (node.inputs.size() < 2 || node.inputs[1] == kNoValue) return false;
  const std::optional<Tensor>& constant = graph.values[node.inputs[1]].constant;
  if (!constant.has_value() || constant->dtype() != DataType::kInt64) return false;
  const auto axes = constant->values<int64_t>();
  return !axes.empty() &&
         std::all_of(axes.begin(), axes.end(), [](int64_t a) { return a == 2 || a == 3; });
}

bool AreImages(const Graph& graph, const std::vector<ValueId>& ids) {
  return absl::c_all_of(ids, [&](ValueId id) { return id == kNoValue || IsImage(graph, id); });
}

// Values that must have one block.
class Classes {
 public:
  explicit Classes(const Graph& graph)
      : sets_(graph.values.size()), divides_(graph.values.size()), wanted_(graph.values.size()) {}

  void Join(ValueId a, ValueId b) {
    const size_t to = sets_.Find(a), from = sets_.Find(b);
    if (to == from) return;
    sets_.Join(to, from);
    divides_[to] = std::gcd(divides_[to], divides_[from]);
    wanted_[to] = wanted_[to] || wanted_[from];
  }
  // The block has to divide `count`.
  void Require(ValueId id, int64_t count) {
    const size_t set = sets_.Find(id);
    divides_[set] = std::gcd(divides_[set], count);
  }
  // Joins `ids` and has them blocked by what divides `counts`, too, unless a block that one of them has is lost by that.
  // REQUIRES: nothing is required or wanted any more.
  void JoinIfBlocked(absl::Span<const ValueId> ids, absl::Span<const int64_t> counts,
                     const std::vector<int64_t>& blocks, int64_t least) {
    int64_t divides = 0;
    for (const ValueId id : ids) divides = std::gcd(divides, divides_[sets_.Find(id)]);
    for (const int64_t count : counts) divides = std::gcd(divides, count);
    if (BlockDividing(divides, blocks) < least) return;
    for (const ValueId id : ids) Join(ids[0], id);
    Require(ids[0], divides);
  }
  // A convolution would have it blocked.
  void Want(ValueId id) { wanted_[sets_.Find(id)] = true; }

  int64_t Block(ValueId id, const std::vector<int64_t>& blocks) {
    const size_t set = sets_.Find(id);
    return wanted_[set] && divides_[set] != 0 ? BlockDividing(divides_[set], blocks) : 0;
  }

 private:
  DisjointSets sets_;
  std::vector<int64_t> divides_;  // Greatest common divisor of what was required; 0 for nothing.
  std::vector<bool> wanted_;
};

absl::Status AddConv(const Graph& graph, const Node& node, const PassContext& context,
                     const std::vector<int64_t>& blocks, Classes& classes) {
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(graph, node, context.registry));
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(view));
  if (IsDepthwise(conv)) {
    classes.Join(node.inputs[0], node.outputs[0]);
    classes.Want(node.outputs[0]);
    return absl::OkStatus();
  }
  const int64_t in_channels = conv.in_channels / conv.group;
  const int64_t out_channels = conv.out_channels / conv.group;
  // One with groups whose result cannot be blocked (ShuffleNet's) usually stands in a row of its like: blocking what lies
  // between would only cost conversions.
  const bool out_blocked = BlockDividing(out_channels, blocks) != 0;
  if (!out_blocked && conv.group > 1) {
    classes.Require(node.inputs[0], in_channels);
    return absl::OkStatus();
  }
  const bool in_blocked =
      conv.in_channels > kFewChannels && BlockDividing(in_channels, blocks) != 0;
  if (conv.group > 1 && !in_blocked) return absl::OkStatus();
  if (out_blocked) {
    classes.Require(node.outputs[0], out_channels);
    classes.Want(node.outputs[0]);
  }
  if (in_blocked) {
    classes.Require(node.inputs[0], in_channels);
    classes.Want(node.inputs[0]);
  }
  return absl::OkStatus();
}

// Concat, Slice and Split have an image and its parts in the same blocks. A Concat is not there to be
// had at the price of plain convolutions around it, a cut not at that of smaller blocks.
void JoinParts(const Graph& graph, const Node& node, const PassContext& context,
               const std::vector<int64_t>& blocks, Classes& classes) {
  if (LayoutRoleOf(graph, node, context.registry) == LayoutRole::kConcat) {
    std::vector<ValueId> ids = {node.outputs[0]};
    std::vector<int64_t> constants;
    for (const ValueId id : node.inputs) {
      if (IsConstant(graph, id)) {
        constants.push_back(Channels(graph, id));
      } else {
        ids.push_back(id);
      }
    }
    classes.JoinIfBlocked(ids, constants, blocks, blocks.back());
    return;
  }
  const auto ranges = MovedChannels(graph, node, context.registry);
  for (size_t i = 0; i < ranges->size(); ++i) {
    if (!(*ranges)[i].has_value()) continue;
    const ValueId x = node.inputs[0], y = node.outputs[i];
    const int64_t block = std::max(classes.Block(x, blocks), classes.Block(y, blocks));
    if (block == 0) continue;
    classes.JoinIfBlocked({x, y}, {(*ranges)[i]->begin, (*ranges)[i]->count}, blocks, block);
  }
}

}  // namespace

int64_t BlockDividing(int64_t channels, const std::vector<int64_t>& blocks) {
  for (const int64_t block : blocks) {
    if (channels > 0 && channels % block == 0) return block;
  }
  return 0;
}

int64_t BlockCovering(int64_t channels, const std::vector<int64_t>& blocks) {
  const auto count = [channels](int64_t block) { return (channels + block - 1) / block; };
  return *std::min_element(blocks.begin(), blocks.end(), [&](int64_t a, int64_t b) {
    return std::pair(count(a), a) < std::pair(count(b), b);
  });
}

LayoutRole LayoutRoleOf(const Graph& graph, const Node& node, const OperatorRegistry& registry) {
  const OperatorSchema* schema = registry.Find(node.op);
  if (schema == nullptr || node.inputs.empty() || node.inputs[0] == kNoValue ||
      !AreImages(graph, node.outputs)) {
    return LayoutRole::kPlain;
  }
  if (schema->layout.role != LayoutRole::kSplit &&
      (node.outputs.size() != 1 || node.outputs[0] == kNoValue)) {
    return LayoutRole::kPlain;
  }
  bool fits = false;
  switch (schema->layout.role) {
    case LayoutRole::kPlain:
      break;
    case LayoutRole::kConvolution:
      fits = IsImage(graph, node.inputs[0]) && IsConstant(graph, node.inputs[1]);
      break;
    case LayoutRole::kWindow:
      fits = IsImage(graph, node.inputs[0]);
      break;
    case LayoutRole::kSpatialReduction:
      fits = IsImage(graph, node.inputs[0]) && ReducesSpaceOnly(graph, node);
      break;
    case LayoutRole::kElementwise:
      fits = ElementwiseFits(graph, node);
      break;
    case LayoutRole::kConcat:
      fits = AreImages(graph, node.inputs);
      break;
    case LayoutRole::kNormalization:
      fits = IsImage(graph, node.inputs[0]) && IsFloat(graph, node.inputs[0]);
      break;
    case LayoutRole::kSlice:
    case LayoutRole::kSplit:
    case LayoutRole::kResize:
    case LayoutRole::kPad:
      fits = IsImage(graph, node.inputs[0]) && MovedChannels(graph, node, registry).has_value();
      break;
  }
  return fits ? schema->layout.role : LayoutRole::kPlain;
}

bool IsDepthwise(const ConvView& convolution) {
  return convolution.group > 1 && convolution.group == convolution.in_channels &&
         convolution.in_channels == convolution.out_channels;
}

absl::StatusOr<std::vector<int64_t>> ChooseChannelBlocks(
    const Graph& graph, const PassContext& context, const std::vector<int64_t>& channel_blocks) {
  Classes classes(graph);
  std::vector<const Node*>
      rest;  // Those that join parts of images, once the blocks of these are known.
  for (size_t id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].type.has_value() && IsImage(graph, static_cast<ValueId>(id))) {
      classes.Require(static_cast<ValueId>(id), Channels(graph, static_cast<ValueId>(id)));
    }
  }
  for (const Node& node : graph.nodes) {
    const ValueId y = node.outputs[0];
    switch (LayoutRoleOf(graph, node, context.registry)) {
      case LayoutRole::kPlain:
        break;
      case LayoutRole::kConvolution:
        SLIPWAY_RETURN_IF_ERROR(AddConv(graph, node, context, channel_blocks, classes));
        break;
      case LayoutRole::kWindow:
      case LayoutRole::kSpatialReduction:
      case LayoutRole::kNormalization:
      case LayoutRole::kResize:
      case LayoutRole::kPad:
        classes.Join(node.inputs[0], y);
        break;
      case LayoutRole::kElementwise:
        for (const ValueId id : node.inputs) {
          if (id == kNoValue || IsConstant(graph, id) || !IsImage(graph, id)) continue;
          if (Channels(graph, id) == Channels(graph, y)) classes.Join(id, y);
        }
        break;
      case LayoutRole::kConcat:
      case LayoutRole::kSlice:
      case LayoutRole::kSplit:
        rest.push_back(&node);
        break;
    }
  }
  for (const Node* node : rest) JoinParts(graph, *node, context, channel_blocks, classes);
  std::vector<int64_t> chosen(graph.values.size(), 0);
  for (size_t id = 0; id < graph.values.size(); ++id) {
    if (IsConstant(graph, static_cast<ValueId>(id))) continue;
    chosen[id] = classes.Block(static_cast<ValueId>(id), channel_blocks);
  }
  return chosen;
}

}  // namespace slipway
