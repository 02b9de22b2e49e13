#include "tests/common/seeded_weights.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/edit.h"
#include "tests/common/seeded_tensor.h"

namespace slipway::testing {
namespace {

class Seeder {
 public:
  Seeder(Graph graph, uint64_t seed)
      : graph_(std::move(graph)), producers_(Producers(graph_)), next_seed_(seed * 1'000'003) {}

  Graph Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const std::string op = graph_.nodes[n].op;
      if (op == "Conv" || op == "Gemm") SeedProduct(n);
      if (op == "BatchNormalization") SeedNormalization(n);
    }
    DropUnread();
    return std::move(graph_);
  }

 private:
  bool IsParameter(ValueId id) const {
    const Value& value = graph_.values[id];
    if (!value.type.has_value() || value.type->dtype() != DataType::kFloat32) return false;
    return value.constant.has_value() ||
           (producers_[id] != kNoNode && graph_.nodes[producers_[id]].op == "ConstantOfShape");
  }

  // A fresh constant each time: what was shared by value is not any more.
  void Seed(size_t node, size_t input, double mean, double deviation) {
    if (input >= graph_.nodes[node].inputs.size()) return;
    const ValueId id = graph_.nodes[node].inputs[input];
    if (id == kNoValue || !IsParameter(id)) return;
    const Shape shape = graph_.values[id].type->shape();
    graph_.nodes[node].inputs[input] = graph_.AddConstant(
        names_.Make(graph_.values[id].name), MakeSeeded({shape, mean, deviation, next_seed_++}));
    producers_.push_back(kNoNode);
  }

  void SeedProduct(size_t node) {
    const ValueId weights = graph_.nodes[node].inputs[1];
    const Shape shape = graph_.values[weights].type->shape();
    int64_t fan_in = shape.size() < 2 ? 1 : shape[1];
    for (size_t d = 2; d < shape.size(); ++d) fan_in *= shape[d];
    Seed(node, 1, 0, std::sqrt(2.0 / static_cast<double>(fan_in)));
    Seed(node, 2, 0, 0.1);
  }
  void SeedNormalization(size_t node) {
    Seed(node, 1, 1, 0.1);
    Seed(node, 2, 0, 0.1);
    Seed(node, 3, 0, 0.1);
    Seed(node, 4, 1, 0.1);
  }

  void DropUnread() {
    std::vector<bool> read = OutputFlags(graph_);
    for (const Node& node : graph_.nodes) {
      for (const ValueId id : node.inputs) {
        if (id != kNoValue) read[id] = true;
      }
    }
    std::vector<Node> kept;
    for (Node& node : graph_.nodes) {
      if (node.op == "ConstantOfShape" && !read[node.outputs[0]]) continue;
      kept.push_back(std::move(node));
    }
    graph_.nodes = std::move(kept);
    DropUnusedValues(graph_);
  }

  Graph graph_;
  UniqueNames names_{graph_};
  std::vector<NodeId> producers_;
  uint64_t next_seed_;
};

}  // namespace

Graph WithSeededWeights(Graph graph, uint64_t seed) { return Seeder(std::move(graph), seed).Run(); }

}  // namespace slipway::testing
