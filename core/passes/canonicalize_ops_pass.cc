#include "core/passes/canonicalize_ops_pass.h"

#include <algorithm>
#include <utility>

#include "core/base/status_macros.h"
#include "core/passes/canonicalize_rules.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {

namespace {

// Of these only the values are known to the rules, not what they stand for.
bool MakesQuantized(const Graph& graph, const Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&graph](ValueId id) {
    return id != kNoValue && graph.values[id].type->quantization().has_value();
  });
}

}  // namespace

absl::StatusOr<Graph> CanonicalizeOps(Graph graph, const PassContext& context) {
  CanonicalizeRules rules;
  AddIdentityRules(rules);
  AddVariadicRules(rules);
  AddProductRules(rules);
  AddWindowRules(rules);
  AddShapeRules(rules);
  AddControlRules(rules);

  // Optional outputs that nothing reads would keep a rule from being sure.
  SLIPWAY_ASSIGN_OR_RETURN(graph, DeadCode(std::move(graph), context));
  GraphRewriter rewriter(std::move(graph), context.registry);
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    const auto of_operator = rules.find(node.op);
    CanonicalizeRule rule = nullptr;
    if (of_operator != rules.end()) {
      rule = of_operator->second;
    } else if (context.registry.MovementOf(node.op) == Movement::kView) {
      rule = ViewToReshape;
    } else if (const OperatorSchema* schema = context.registry.Find(node.op);
               schema != nullptr && IsElementwise(schema->pattern)) {
      rule = ElementwiseOverRows;
    }
    if (rule != nullptr && !MakesQuantized(rewriter.graph(), node)) {
      SLIPWAY_ASSIGN_OR_RETURN(const bool replaced, rule(node, rewriter, context));
      if (replaced) continue;
    }
    rewriter.Keep(std::move(node));
  }
  SLIPWAY_ASSIGN_OR_RETURN(graph, std::move(rewriter).Finish());
  return DeadCode(std::move(graph), context);
}

}  // namespace slipway
