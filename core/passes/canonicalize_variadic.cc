// Operators of any number of inputs as chains of those of two.
#include <string>
#include <utility>

#include "core/base/status_macros.h"
#include "core/passes/canonicalize_rules.h"

namespace slipway {
namespace {

// input 0 op input 1 op ..., from the left.
absl::StatusOr<ValueId> AddChain(const Node& node, GraphRewriter& rewriter, absl::string_view op) {
  const std::string name = DisplayName(rewriter.graph(), node);
  ValueId sum = node.inputs[0];
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(sum, rewriter.Add(op, {sum, node.inputs[i]}, {}, name));
  }
  return sum;
}

absl::StatusOr<bool> SumToAdds(Node& node, GraphRewriter& rewriter, const PassContext&) {
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId sum, AddChain(node, rewriter, "Add"));
  rewriter.Replace(node, sum);
  return true;
}

absl::StatusOr<bool> ExtremumToChain(Node& node, GraphRewriter& rewriter, const PassContext&) {
  if (node.inputs.size() == 2) return false;
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId extremum, AddChain(node, rewriter, node.op));
  rewriter.Replace(node, extremum);
  return true;
}

}  // namespace

void AddVariadicRules(CanonicalizeRules& rules) {
  rules["Sum"] = SumToAdds;
  rules["Max"] = ExtremumToChain;
  rules["Min"] = ExtremumToChain;
}

}  // namespace slipway
