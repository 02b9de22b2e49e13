#include "core/codegen/merge_dimensions.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/operators/convolution.h"
#include "core/operators/movement.h"
#include "core/operators/quantization.h"

namespace slipway {
namespace {

// The dimensions of a plane in a tensor over channel blocks, [N, C/c, H, W, c].
constexpr int kBlockedRank = 5;
constexpr int kHeight = 2;
constexpr int kWidth = 3;
// Of a row: what no tile divides is a small part of it, and a task has some rows to choose from.
constexpr int64_t kWantedWidth = 96;

// Whether the operator computes element by element, its inputs broadcast as ONNX's Add does.
bool IsElementwise(const Graph& body, const Node& node, const OperatorSchema& schema,
                   const OperatorRegistry& registry) {
  if (schema.pattern == Pattern::kElementwise) return true;
  if (schema.pattern != Pattern::kBroadcast || schema.layout.role != LayoutRole::kElementwise) {
    return false;
  }
  const absl::StatusOr<NodeView> view = NodeView::Create(body, node, registry);
  return view.ok() && !HasScalesAlongAxis(*view);
}

bool IsPointwise(const Graph& body, const Node& node, const OperatorRegistry& registry) {
  if (node.op != "slipway.ConvNCHWc") return false;
  if (body.value(node.inputs[0]).type->rank() != kBlockedRank) return false;
  const absl::StatusOr<NodeView> view = NodeView::Create(body, node, registry);
  if (!view.ok()) return false;
  const absl::StatusOr<ConvView> conv = DecodeConv(*view);
  if (!conv.ok()) return false;
  const auto all = [](const std::vector<int64_t>& values, int64_t wanted) {
    return std::all_of(values.begin(), values.end(),
                       [wanted](int64_t value) { return value == wanted; });
  };
  const Window& window = conv->window;
  return all(window.kernel, 1) && all(window.strides, 1) && all(window.pads_begin, 0) &&
         all(window.pads_end, 0);
}

// What is merged: the values that run through the merged dimensions, each with as many extents as the widest has, ones in
// front.
struct Merged {
  std::map<ValueId, Dimensions> values;
  size_t rank = 0;
  bool has_convolution = false;
};

Dimensions Aligned(const Dimensions& dimensions, size_t rank) {
  Dimensions aligned(rank - dimensions.size(), Dimension(1));
  aligned.insert(aligned.end(), dimensions.begin(), dimensions.end());
  return aligned;
}

// Without values where the body is none of the two kinds.
Merged Collect(const Graph& body, const OperatorRegistry& registry) {
  Merged merged;
  std::vector<ValueId> others;
  for (const Node& node : body.nodes) {
    const OperatorSchema* schema = registry.Find(node.op);
    if (schema == nullptr) return {};
    const bool pointwise = IsPointwise(body, node, registry);
    if (!pointwise && !IsElementwise(body, node, *schema, registry)) return {};
    merged.has_convolution = merged.has_convolution || pointwise;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      if (pointwise && i > 0) {
        others.push_back(node.inputs[i]);
      } else {
        merged.values.try_emplace(node.inputs[i]);
      }
    }
    for (const ValueId output : node.outputs) {
      if (output != kNoValue) merged.values.try_emplace(output);
    }
  }
  for (const ValueId other : others) {
    if (merged.values.count(other) > 0) return {};
  }
  for (const auto& [id, dimensions] : merged.values) {
    merged.rank = std::max<size_t>(merged.rank, body.value(id).type->rank());
  }
  for (auto& [id, dimensions] : merged.values) {
    dimensions = Aligned(body.value(id).type->dimensions(), merged.rank);
  }
  return merged;
}

bool IsOne(const Dimension& dimension) { return dimension == Dimension(1); }

// The extent that values have which don't broadcast along `d`.
Dimension Spanned(const Merged& merged, size_t d) {
  for (const auto& [id, dimensions] : merged.values) {
    if (!IsOne(dimensions[d])) return dimensions[d];
  }
  return Dimension(1);
}

// Whether every value has both of d and d + 1, or neither.
bool AreAlike(const Merged& merged, size_t d) {
  const Dimension first = Spanned(merged, d), second = Spanned(merged, d + 1);
  if (!first.is_known() || !second.is_known()) return false;
  return std::all_of(merged.values.begin(), merged.values.end(),
                     [&first, &second, d](const auto& value) {
                       const Dimension& a = value.second[d];
                       const Dimension& b = value.second[d + 1];
                       return (a == first && b == second) || (IsOne(a) && IsOne(b));
                     });
}

void Reshape(Value& value, const Dimensions& dimensions) {
  value.type = ValueType(value.type->dtype(), dimensions);
  if (value.constant.has_value()) {
    value.constant = value.constant->Reshaped(value.type->shape()).value();
  }
}

// Fewer and longer rows.
void MergeRows(Graph& body, Merged merged) {
  if (merged.rank != kBlockedRank || !AreAlike(merged, kHeight)) return;
  const int64_t height = Spanned(merged, kHeight).extent();
  const int64_t width = Spanned(merged, kWidth).extent();
  int64_t rows = height;
  while (rows > 1 && (height % rows != 0 || width * (height / rows) < kWantedWidth)) --rows;
  if (rows == height || height == 0) return;
  for (auto& [id, dimensions] : merged.values) {
    if (body.value(id).type->rank() < kBlockedRank || IsOne(dimensions[kWidth])) continue;
    dimensions[kHeight] = Dimension(rows);
    dimensions[kWidth] = Dimension(width * (height / rows));
    Reshape(body.value(id), dimensions);
  }
}

void MergeAll(Graph& body, Merged merged) {
  // How many dimensions each value has of those that are left; what a value has not stands in front.
  std::map<ValueId, size_t> ranks;
  for (const auto& [id, dimensions] : merged.values) ranks[id] = body.value(id).type->rank();
  for (size_t d = 0; d + 1 < merged.rank;) {
    if (!AreAlike(merged, d)) {
      ++d;
      continue;
    }
    for (auto& [id, dimensions] : merged.values) {
      dimensions[d] = dimensions[d] * dimensions[d + 1];
      dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(d) + 1);
      // The two stood `behind` places from the end, and one before that.
      const size_t behind = merged.rank - d - 1;
      if (ranks[id] > behind) --ranks[id];
    }
    --merged.rank;
  }
  for (const auto& [id, dimensions] : merged.values) {
    Reshape(body.value(id), Dimensions(dimensions.end() - static_cast<std::ptrdiff_t>(ranks[id]),
                                       dimensions.end()));
  }
}

// Whether the body is a Concat alone, whose parts are known; they are rows then.
bool MergeParts(Graph& body, const OperatorRegistry& registry) {
  if (body.nodes.size() != 1 || body.nodes[0].op != "Concat") return false;
  Node& node = body.nodes[0];
  const absl::StatusOr<NodeView> view = NodeView::Create(body, node, registry);
  if (!view.ok()) return false;
  const absl::StatusOr<int64_t> axis = DecodeConcat(*view);
  if (!axis.ok()) return false;
  std::set<ValueId> values(node.inputs.begin(), node.inputs.end());
  values.insert(node.outputs[0]);
  for (const ValueId id : values) {
    if (!body.value(id).type->is_static()) return false;
  }
  for (const ValueId id : values) {
    const Dimensions& dimensions = body.value(id).type->dimensions();
    Dimensions row = {Dimension(1), Dimension(1)};
    for (size_t d = 0; d < dimensions.size(); ++d) {
      Dimension& merged = row[static_cast<int64_t>(d) < *axis ? 0 : 1];
      merged = merged * dimensions[d];
    }
    Reshape(body.value(id), row);
  }
  node.attributes.Set("axis", int64_t{1});
  return true;
}

}  // namespace

void MergeDimensions(Graph& body, const OperatorRegistry& registry) {
  if (MergeParts(body, registry)) return;
  Merged merged = Collect(body, registry);
  if (merged.values.empty()) return;
  if (merged.has_convolution) {
    MergeRows(body, std::move(merged));
  } else {
    MergeAll(body, std::move(merged));
  }
}

}  // namespace slipway
