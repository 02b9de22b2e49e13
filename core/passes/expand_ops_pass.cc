#include "core/passes/expand_ops_pass.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/status_macros.h"
#include "core/passes/expand_rules.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {
namespace {

absl::StatusOr<bool> IsServed(const Node& node, const GraphRewriter& rewriter,
                              const OperatorRegistry& registry, const IsLowered& is_lowered) {
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view, NodeView::Create(rewriter.graph(), node, registry));
  return is_lowered(view, TypesOf(rewriter.graph(), node.outputs));
}

}  // namespace

absl::StatusOr<Graph> ExpandOps(Graph graph, const PassContext& context,
                                const IsLowered& is_lowered) {
  const absl::flat_hash_map<std::string, ExpandRule> rules = {
      {"Attention", AttentionRule()},
      {"ConvTranspose", ConvTransposeRule()},
      {"DynamicQuantizeLinear", DynamicQuantizationRule()},
      {"GRU", RecurrentRule()},
      {"LSTM", RecurrentRule()},
      {"RNN", RecurrentRule()},
  };
  GraphRewriter rewriter(std::move(graph), context.registry);
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    if (const auto rule = rules.find(node.op); rule != rules.end()) {
      SLIPWAY_ASSIGN_OR_RETURN(const bool served,
                               IsServed(node, rewriter, context.registry, is_lowered));
      bool replaced = false;
      if (!served) {
        SLIPWAY_ASSIGN_OR_RETURN(replaced, rule->second(node, rewriter, context.registry));
      }
      if (replaced) continue;
    }
    rewriter.Keep(std::move(node));
  }
  return std::move(rewriter).Finish();
}

}  // namespace slipway
