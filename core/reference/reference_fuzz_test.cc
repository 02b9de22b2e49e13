// Graphs from hostile text: the verifier and the type rules take any, and what verifies evaluates or
// fails with a status.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/operators/register_all.h"
#include "core/reference/reference.h"

namespace {

constexpr int64_t kMaxBytes = 1 << 14;

struct Evaluator {
  const slipway::OperatorRegistry registry = slipway::StandardOperators();
  const slipway::Reference reference{registry};
};

// Whether the type rules promise that everything stays small. Infers as it goes.
bool IsSmall(slipway::Graph& graph, const slipway::OperatorRegistry& registry) {
  for (const slipway::Value& value : graph.values) {
    if (!value.type.has_value()) continue;
    if (!value.type->is_static() || value.type->byte_size() > kMaxBytes) return false;
  }
  for (const slipway::Node& node : graph.nodes) {
    if (!node.attributes.empty()) {
      for (const auto& [name, attribute] : node.attributes) {
        // A body's sizes are its own.
        if (slipway::KindOf(attribute) == slipway::AttributeKind::kGraph) {
          slipway::Graph body = *std::get<std::shared_ptr<const slipway::Graph>>(attribute);
          if (!IsSmall(body, registry)) return false;
        }
      }
    }
    const auto types = slipway::InferNodeTypes(graph, node, registry);
    if (!types.ok()) return false;
    for (size_t i = 0; i < types->size(); ++i) {
      // Places of strings count as eight bytes, as those of the widest numbers.
      if (!(*types)[i].is_static() || (*types)[i].byte_size() > kMaxBytes ||
          (*types)[i].num_elements() > kMaxBytes / 8) {
        return false;
      }
      if (node.outputs[i] != slipway::kNoValue) graph.values[node.outputs[i]].type = (*types)[i];
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Evaluator& evaluator = *new Evaluator();
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  auto graph = slipway::ParseGraph(text, {.max_splat_bytes = kMaxBytes});
  if (!graph.ok() || !slipway::Verify(*graph, evaluator.registry).ok()) return 0;
  std::vector<slipway::Tensor> inputs;
  for (const slipway::ValueId id : graph->inputs) {
    const auto& type = graph->values[id].type;
    if (!type.has_value() || !type->is_static() || type->byte_size() > kMaxBytes) return 0;
    auto input = slipway::Tensor::Create(type->tensor());
    if (!input.ok()) return 0;
    inputs.push_back(*std::move(input));
  }
  if (graph->nodes.size() > 100 || !IsSmall(*graph, evaluator.registry)) return 0;
  evaluator.reference.Evaluate(*graph, inputs).status().IgnoreError();
  return 0;
}
