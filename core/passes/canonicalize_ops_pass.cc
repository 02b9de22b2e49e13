#include "core/passes/canonicalize_ops_pass.h"

#include <algorithm>
#include <utility>
#include <vector>

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
    const OperatorSchema* const schema = context.registry.Find(node.op);
    std::vector<CanonicalizeRule> in_turn;
    if (of_operator != rules.end()) {
      in_turn.push_back(of_operator->second);
    } else if (context.registry.MovementOf(node.op) == Movement::kView) {
      in_turn.push_back(ViewToReshape);
    }
    if (schema != nullptr && IsElementwise(schema->pattern)) in_turn.push_back(ElementwiseOverRows);
    if (MakesQuantized(rewriter.graph(), node)) in_turn.clear();
    bool replaced = false;
    for (const CanonicalizeRule rule : in_turn) {
      SLIPWAY_ASSIGN_OR_RETURN(replaced, rule(node, rewriter, context));
      if (replaced) break;
    }
    if (replaced) continue;
    rewriter.Keep(std::move(node));
  }
  SLIPWAY_ASSIGN_OR_RETURN(graph, std::move(rewriter).Finish());
  return DeadCode(std::move(graph), context);
}

}  // namespace slipway
