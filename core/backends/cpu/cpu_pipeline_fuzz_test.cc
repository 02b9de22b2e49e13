// Graphs from hostile text through all passes: each ends in a graph that verifies, or in an error that
// is the graph's own fault.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/string_view.h"
#include "core/backends/cpu/cpu_pipeline.h"
#include "core/base/clock.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/operators/register_all.h"
#include "core/passes/pipeline.h"
#include "core/reference/reference.h"
#include "core/target/target.h"

namespace {

constexpr int64_t kMaxBytes = 1 << 14;

struct Environment {
  const slipway::OperatorRegistry registry = slipway::StandardOperators();
  const slipway::Reference reference{registry};
  const slipway::PassContext context{registry, reference};
  const slipway::BackendPipeline pipeline =
      slipway::CpuPipeline(slipway::ParseTarget("x86-64-v3-linux")->host());
  const slipway::SystemClock clock{};
};

bool IsLarge(const slipway::ValueType& type) {
  return type.is_static() && type.byte_size() > kMaxBytes;
}

// Whether the type rules promise that everything stays small: what is open is never evaluated. Infers
// as it goes; what it cannot infer hangs on small constants.
bool IsSmall(slipway::Graph graph, const slipway::OperatorRegistry& registry) {
  for (const slipway::Value& value : graph.values) {
    if (value.type.has_value() && IsLarge(*value.type)) return false;
  }
  for (const slipway::Node& node : graph.nodes) {
    const auto types = slipway::InferNodeTypes(graph, node, registry);
    if (!types.ok()) return false;
    for (size_t i = 0; i < types->size(); ++i) {
      if (IsLarge((*types)[i])) return false;
      if (i < node.outputs.size() && node.outputs[i] != slipway::kNoValue) {
        graph.values[node.outputs[i]].type = (*types)[i];
      }
    }
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Environment& environment = *new Environment();
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  auto graph = slipway::ParseGraph(text, {.max_splat_bytes = kMaxBytes});
  if (!graph.ok() || !slipway::Verify(*graph, environment.registry).ok()) return 0;
  if (graph->nodes.size() > 100 || !IsSmall(*graph, environment.registry)) return 0;
  const auto result = slipway::RunPipeline(*std::move(graph), environment.pipeline,
                                           environment.context, {}, environment.clock);
  if (absl::IsInternal(result.status())) {
    std::fprintf(stderr, "%s\n", result.status().ToString().c_str());
    std::abort();
  }
  return 0;
}
