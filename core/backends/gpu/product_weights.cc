#include "core/backends/gpu/product_weights.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/backends/program/program_manifest.h"
#include "core/base/status_macros.h"
#include "core/codegen/tensor_cores/tensor_tile.h"
#include "core/codegen/tensor_cores/weight_layout.h"
#include "core/graph/edit.h"
#include "core/graph/operator_registry.h"
#include "core/operators/fused.h"
#include "core/operators/products.h"
#include "core/passes/computed_constant.h"
#include "core/tensor/shape.h"

namespace slipway {
namespace {

// What is copied at once.
constexpr int64_t kCopiedBytes = 16;
constexpr int64_t kFloatType = 1;  // Of Cast.

DataType TypeOf(Precision precision) {
  switch (precision) {
    case Precision::kFloat16:
      return DataType::kFloat16;
    case Precision::kBfloat16:
      return DataType::kBfloat16;
    default:
      return DataType::kFloat32;
  }
}

// How a constant is stored.
struct Stored {
  WeightLayout layout;
  Shape shape;
  std::vector<int64_t> back;  // The Transpose that turns it back; empty where nothing is turned.

  friend bool operator<(const Stored& a, const Stored& b) {
    return std::tie(a.shape, a.back, a.layout.dtype) < std::tie(b.shape, b.back, b.layout.dtype);
  }
};

// Of the factor that is input `i` of the product; none where it is best as it is.
std::optional<Stored> HowToStore(const NodeView& head, int i, Precision precision) {
  const Shape& shape = head.input_shape(i);
  const DataType dtype = TypeOf(precision);
  Stored stored{{1, 1, NumElements(shape), DataType::kFloat32}, shape, {}};
  int64_t depth = 0;
  if (head.op() == "Conv") {
    if (i != 1) return std::nullopt;
    const int64_t channels = shape[1];
    depth = NumElements(shape) / shape[0];
    // The template goes through the channels in whole steps.
    if (depth > channels && channels * ByteSize(dtype) % kMostDepthBytes == 0) {
      stored.layout = {shape[0], channels, depth / channels, DataType::kFloat32};
      stored.shape.erase(stored.shape.begin() + 1);
      stored.shape.push_back(channels);
      stored.back = {0, static_cast<int64_t>(shape.size()) - 1};
      for (size_t d = 1; d + 1 < shape.size(); ++d) stored.back.push_back(static_cast<int64_t>(d));
    }
  } else {
    if (shape.size() != 2) return std::nullopt;
    const bool gemm_turns = head.op() == "Gemm" && head.Int(i == 0 ? "transA" : "transB") != 0;
    const bool has_depth_inside = (i == 0) != gemm_turns;
    depth = has_depth_inside ? shape[1] : shape[0];
    if (!has_depth_inside) {
      stored = {{1, shape[0], shape[1], DataType::kFloat32}, {shape[1], shape[0]}, {1, 0}};
    }
  }
  if (depth * ByteSize(dtype) % kCopiedBytes == 0) stored.layout.dtype = dtype;
  if (stored.back.empty() && stored.layout.dtype == DataType::kFloat32) return std::nullopt;
  return stored;
}

// Rewrites groups, one after the other.
class Rewriter {
 public:
  Rewriter(Graph& graph, const PassContext& context)
      : graph_(graph), context_(context), names_(graph) {}

  absl::Status Rewrite(Node& node) {
    const Precision precision = ProductsOfNode(node);
    if (precision == Precision::kFloat32) return absl::OkStatus();
    const Graph& old = *ComputedBy(node);
    const auto head =
        absl::c_find_if(old.nodes, [](const Node& inner) { return MakesProducts(inner.op); });
    if (head == old.nodes.end()) return absl::OkStatus();
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(old, *head, context_.registry));
    auto body = std::make_shared<Graph>(old);
    std::vector<Node> first;
    for (int i = 0; i < 2; ++i) {
      const ValueId factor = head->inputs[static_cast<size_t>(i)];
      const auto input = absl::c_find(old.inputs, factor);
      if (input == old.inputs.end()) continue;
      const auto place = static_cast<size_t>(input - old.inputs.begin());
      const Value& constant = graph_.value(node.inputs[place]);
      if (!constant.constant.has_value() || Readers(old, factor) != 1) continue;
      const std::optional<Stored> stored = HowToStore(view, i, precision);
      if (!stored.has_value()) continue;
      ++changed_;
      node.inputs[place] = ConstantFor(node.inputs[place], *stored);
      body->inputs[place] = Prepend(*body, factor, *stored, first);
    }
    if (first.empty()) return absl::OkStatus();
    body->nodes.insert(body->nodes.begin(), first.begin(), first.end());
    node.attributes.Set(kFusedBody, std::shared_ptr<const Graph>(std::move(body)));
    return absl::OkStatus();
  }

  int changed() const { return changed_; }

 private:
  static int64_t Readers(const Graph& body, ValueId id) {
    int64_t readers = absl::c_count(body.outputs, id);
    for (const Node& node : body.nodes) readers += absl::c_count(node.inputs, id);
    return readers;
  }

  ValueId ConstantFor(ValueId id, const Stored& stored) {
    const auto [entry, is_new] = made_.try_emplace({id, stored}, kNoValue);
    if (is_new) {
      const std::string name = names_.Make(absl::StrCat(graph_.value(id).name, "_laid_out"));
      Tensor made =
          ComputedConstant(*graph_.value(id).constant, {stored.layout.dtype, stored.shape},
                           [stored](const Tensor& from, Tensor& to) {
                             to = LaidOutWeights(from, stored.layout, stored.shape);
                           });
      entry->second = graph_.AddConstant(name, std::move(made));
    }
    return entry->second;
  }

  // Has the body make `factor` of a new value, which is returned.
  static ValueId Prepend(Graph& body, ValueId factor, const Stored& stored,
                         std::vector<Node>& nodes) {
    UniqueNames names(body);
    const std::string name = body.value(factor).name;
    const ValueId first = body.AddValue(names.Make(absl::StrCat(name, "_stored")),
                                        ValueType(TensorType{stored.layout.dtype, stored.shape}));
    ValueId last = first;
    if (stored.layout.dtype != DataType::kFloat32) {
      const ValueId wide =
          stored.back.empty()
              ? factor
              : body.AddValue(names.Make(absl::StrCat(name, "_wide")),
                              ValueType(TensorType{DataType::kFloat32, stored.shape}));
      nodes.push_back({"", "Cast", {last}, {wide}, {{"to", kFloatType}}});
      last = wide;
    }
    if (!stored.back.empty()) {
      nodes.push_back({"", "Transpose", {last}, {factor}, {{"perm", Ints(stored.back)}}});
    }
    return first;
  }

  Graph& graph_;
  const PassContext& context_;
  UniqueNames names_;
  std::map<std::pair<ValueId, Stored>, ValueId> made_;
  int changed_ = 0;
};

}  // namespace

absl::StatusOr<Graph> LayOutProductWeights(Graph graph, const PassContext& context) {
  Rewriter rewriter(graph, context);
  for (Node& node : graph.nodes) {
    if (node.op == kFusedOperator) SLIPWAY_RETURN_IF_ERROR(rewriter.Rewrite(node));
  }
  DropUnusedValues(graph);
  if (context.ledger != nullptr) {
    context.ledger->notes.push_back(
        absl::StrCat(rewriter.changed(), " matrices of constants are laid out for tensor cores"));
  }
  return graph;
}

}  // namespace slipway
