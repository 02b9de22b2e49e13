#include "core/passes/eliminate_common_subexpr_pass.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "core/base/status_macros.h"
#include "core/graph/edit.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {
namespace {

// So many bytes from the beginning, the middle and the end of a constant tell most of those that differ apart.
constexpr size_t kSampleBytes = 256;
// Constants of like samples that one is compared with: more, which are hardly ever there, would cost their product.
constexpr size_t kMaxCandidates = 4;

size_t HashOf(const Tensor& tensor) {
  const absl::string_view bytes = tensor.bytes();
  const size_t middle = bytes.size() / 2;
  const size_t end = bytes.size() - std::min(bytes.size(), kSampleBytes);
  return absl::HashOf(tensor.dtype(), tensor.shape(), bytes.substr(0, kSampleBytes),
                      bytes.substr(middle, kSampleBytes), bytes.substr(end));
}

bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && (a.bytes().data() == b.bytes().data() || a.bytes() == b.bytes());
}

// Attributes are compared in full by SameNode; kinds and the cheap ones suffice to tell most apart.
size_t HashOf(const Node& node) {
  size_t hash = absl::HashOf(node.op, node.inputs, node.outputs.size());
  for (const auto& [name, attribute] : node.attributes) {
    hash = absl::HashOf(hash, name, attribute.index());
    if (const auto* integer = std::get_if<int64_t>(&attribute)) hash = absl::HashOf(hash, *integer);
    if (const auto* list = std::get_if<std::vector<int64_t>>(&attribute)) {
      hash = absl::HashOf(hash, *list);
    }
  }
  return hash;
}

bool SameQuantization(const Graph& graph, ValueId a, ValueId b) {
  return graph.values[a].type->quantization() == graph.values[b].type->quantization();
}

// Extents may stand in an output's type alone (slipway.View), and what nothing is known of may differ.
bool SameType(const Graph& graph, ValueId a, ValueId b) {
  return SameTensors(*graph.values[a].type, *graph.values[b].type) && SameQuantization(graph, a, b);
}

bool SameNode(const Graph& graph, const Node& a, const Node& b) {
  if (a.op != b.op || a.inputs != b.inputs || a.outputs.size() != b.outputs.size() ||
      a.attributes != b.attributes) {
    return false;
  }
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    if ((a.outputs[i] == kNoValue) != (b.outputs[i] == kNoValue)) return false;
    if (a.outputs[i] != kNoValue && !SameType(graph, a.outputs[i], b.outputs[i])) {
      return false;
    }
  }
  return true;
}

// By constant the first one with its contents. What is deferred is not looked at: blobs that are equal are kept once.
std::vector<ValueId> MergeConstants(const Graph& graph) {
  std::vector<ValueId> replacement(graph.values.size());
  std::iota(replacement.begin(), replacement.end(), 0);
  const std::vector<bool> is_output = OutputFlags(graph);
  absl::flat_hash_map<size_t, std::vector<ValueId>> seen;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const std::optional<Tensor>& tensor = graph.values[id].constant;
    // An output keeps its name.
    if (!tensor.has_value() || tensor->is_deferred() || is_output[id]) continue;
    std::vector<ValueId>& candidates = seen[HashOf(*tensor)];
    bool found = false;
    for (const ValueId candidate : candidates) {
      if (!SameBytes(*graph.values[candidate].constant, *tensor) ||
          !SameQuantization(graph, candidate, static_cast<ValueId>(id))) {
        continue;
      }
      replacement[id] = candidate;
      found = true;
      break;
    }
    if (!found && candidates.size() < kMaxCandidates)
      candidates.push_back(static_cast<ValueId>(id));
  }
  return replacement;
}

}  // namespace

absl::StatusOr<Graph> EliminateCommonSubexpr(Graph graph, const PassContext& context) {
  ReplaceUses(graph, MergeConstants(graph));
  GraphRewriter rewriter(std::move(graph), context.registry);
  absl::flat_hash_map<size_t, std::vector<Node>> seen;
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    if (IsRandom(node, context.registry)) {
      rewriter.Keep(std::move(node));
      continue;
    }
    std::vector<Node>& candidates = seen[HashOf(node)];
    const Node* same = nullptr;
    for (const Node& candidate : candidates) {
      if (SameNode(rewriter.graph(), candidate, node)) same = &candidate;
    }
    if (same == nullptr) {
      candidates.push_back(node);
      rewriter.Keep(std::move(node));
      continue;
    }
    rewriter.Release(node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) rewriter.ReplaceOutput(node.outputs[i], same->outputs[i]);
    }
  }
  return std::move(rewriter).Finish();
}

}  // namespace slipway
