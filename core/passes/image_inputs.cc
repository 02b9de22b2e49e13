#include "core/passes/image_inputs.h"

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "core/operators/movement.h"
#include "core/operators/reduction.h"
#include "core/operators/resize.h"

namespace slipway {
namespace {

bool HasImages(const ValueType& type, int64_t images) {
  return type.is_static() && !type.shape().empty() && type.shape()[0] == images;
}

// Whether the number at `index` of the input is known, and is `wanted`.
bool IsKnown(const NodeView& node, int input, size_t index, int64_t wanted) {
  const std::optional<Dimensions> contents = node.contents(input);
  return contents.has_value() && index < contents->size() && (*contents)[index].is_known() &&
         (*contents)[index].extent() == wanted;
}

std::vector<bool> FirstOf(const NodeView& node) {
  std::vector<bool> inputs(static_cast<size_t>(node.num_inputs()), false);
  inputs[0] = true;
  return inputs;
}

// Those that broadcasting, last dimensions first, leaves whole in an image are the same for all.
std::optional<std::vector<bool>> BroadcastInputs(const NodeView& node, size_t rank,
                                                 int64_t images) {
  std::vector<bool> inputs(static_cast<size_t>(node.num_inputs()), false);
  bool any = false;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!node.has_input(i)) continue;
    if (!node.input_type(i).is_static()) return std::nullopt;
    const Shape& shape = node.input_shape(i);
    if (shape.size() > rank) return std::nullopt;
    if (shape.size() < rank || shape[0] == 1) {
      // Scales of quantized tensors are along an axis, whichever that is.
      const bool is_along_images = node.has("axis") && shape.size() == 1 && shape[0] > 1 &&
                                   node.Int("axis") % static_cast<int64_t>(rank) == 0;
      if (is_along_images) return std::nullopt;
      continue;
    }
    if (shape[0] != images) return std::nullopt;
    inputs[static_cast<size_t>(i)] = any = true;
  }
  if (!any) return std::nullopt;
  return inputs;
}

bool KeepsImagesOfResize(const NodeView& node) {
  const absl::StatusOr<ResizeView> resize = DecodeResize(node);
  if (!resize.ok()) return false;
  const auto at = absl::c_find(resize->axes, 0);
  if (at == resize->axes.end()) return true;
  if (resize->coordinates == ResizeView::Coordinates::kCropAndResize) return false;
  const size_t index = static_cast<size_t>(at - resize->axes.begin());
  if (resize->has_sizes) {
    return resize->aspect == ResizeView::Aspect::kStretch && index == 0 &&
           IsKnown(node, 3, 0, node.input_shape(0)[0]);
  }
  const Tensor* const scales = node.constant(2);
  return scales != nullptr && scales->values<float>()[index] == 1;
}

bool KeepsImages(const NodeView& node, int64_t rank) {
  switch (node.schema().layout.role) {
    case LayoutRole::kSpatialReduction: {
      const absl::StatusOr<ReduceView> reduce = DecodeReduce(node);
      return reduce.ok() && !absl::c_linear_search(reduce->axes, 0);
    }
    case LayoutRole::kSplit: {
      const absl::StatusOr<SplitView> split = DecodeSplit(node);
      return split.ok() && split->axis != 0;
    }
    case LayoutRole::kSlice: {
      // Without axes it speaks of the first one, too.
      const std::optional<Dimensions> axes = node.has_input(3) ? node.contents(3) : std::nullopt;
      return axes.has_value() && absl::c_all_of(*axes, [rank](const Dimension& axis) {
               return axis.is_known() && axis.extent() % rank != 0;
             });
    }
    case LayoutRole::kPad:
      return !node.has_input(3) && IsKnown(node, 1, 0, 0) &&
             IsKnown(node, 1, static_cast<size_t>(rank), 0);
    case LayoutRole::kResize: {
      return KeepsImagesOfResize(node);
    }
    default:
      break;
  }
  if (node.op() == "Reshape") return IsKnown(node, 1, 0, node.input_shape(0)[0]);
  if (node.op() == "Transpose") {
    const absl::StatusOr<std::vector<int64_t>> order = DecodeTranspose(node);
    return order.ok() && order->front() == 0;
  }
  return node.schema().keeps_images && node.num_outputs() == 1;
}

}  // namespace

std::optional<int> CountOfImages(const NodeView& node) {
  if (node.op() == "Reshape") return 1;
  if (node.schema().layout.role != LayoutRole::kResize) return std::nullopt;
  const absl::StatusOr<ResizeView> resize = DecodeResize(node);
  if (!resize.ok() || !resize->has_sizes || !absl::c_linear_search(resize->axes, 0)) {
    return std::nullopt;
  }
  return 3;
}

std::optional<std::vector<bool>> ImageInputs(const Graph& graph, const NodeView& node) {
  const auto type_of = [&](ValueId id) -> const ValueType& { return *graph.values[id].type; };
  const std::vector<ValueId>& outputs = node.node().outputs;
  // What is drawn for all images is no image's own.
  if (!node.has_output(0) || node.num_inputs() == 0 || node.schema().random) return std::nullopt;
  if (!type_of(outputs[0]).is_static() || type_of(outputs[0]).shape().empty()) return std::nullopt;
  const int64_t images = type_of(outputs[0]).shape()[0];
  const size_t rank = type_of(outputs[0]).shape().size();
  const bool all = absl::c_all_of(
      outputs, [&](ValueId id) { return id != kNoValue && HasImages(type_of(id), images); });
  if (images < 2 || !all) return std::nullopt;
  const LayoutRole role = node.schema().layout.role;
  if (role == LayoutRole::kElementwise && node.num_outputs() == 1) {
    return BroadcastInputs(node, rank, images);
  }
  if (role == LayoutRole::kConcat) {
    const absl::StatusOr<int64_t> axis = DecodeConcat(node);
    if (!axis.ok() || *axis == 0) return std::nullopt;
    return std::vector<bool>(static_cast<size_t>(node.num_inputs()), true);
  }
  if (!node.has_input(0) || !HasImages(node.input_type(0), images)) return std::nullopt;
  if (!KeepsImages(node, static_cast<int64_t>(node.input_shape(0).size()))) return std::nullopt;
  return FirstOf(node);
}

}  // namespace slipway
