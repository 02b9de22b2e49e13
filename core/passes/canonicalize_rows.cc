// What is done to each element of a product whose rows are the outer dimensions of a tensor.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/passes/canonicalize_rules.h"

namespace slipway {
namespace {

bool IsElementwiseNode(const Node& node, const OperatorRegistry& registry) {
  const OperatorSchema* schema = registry.Find(node.op);
  return schema != nullptr && IsElementwise(schema->pattern);
}

// The matrix that a view shows as a tensor of the same innermost extent, where it is a product or made of one;
// kNoValue otherwise.
ValueId RowsBehind(ValueId x, GraphRewriter& rewriter, const PassContext& context) {
  const Node* view = rewriter.Producer(x);
  if (view == nullptr || context.registry.MovementOf(view->op) != Movement::kView) return kNoValue;
  const ValueId rows = view->inputs[0];
  const ValueType& type = rewriter.type(rows);
  const Dimensions shown = rewriter.type(x).dimensions();
  if (type.rank() != 2 || shown.empty() || !SameExtent(type.dimension(1), shown.back())) {
    return kNoValue;
  }
  const Node* maker = rewriter.Producer(rows);
  if (maker == nullptr) return kNoValue;
  return maker->op == "Gemm" || IsElementwiseNode(*maker, context.registry) ? rows : kNoValue;
}

// An input as one of the same operator over the matrix `rows`: kNoValue where it varies otherwise than such a matrix.
absl::StatusOr<ValueId> OverRows(ValueId x, const ValueType& result, const ValueType& rows,
                                 GraphRewriter& rewriter, const PassContext& context) {
  if (rewriter.type(x).rank() <= 1) return x;
  const std::string name = rewriter.graph().values[x].name;
  if (const Tensor* constant = rewriter.constant(x)) {
    const Dimension elements(constant->num_elements());
    if (elements != Dimension(1) && !(SameExtent(elements, rows.dimension(1)) &&
                                      elements == Dimension(constant->shape().back()))) {
      return kNoValue;
    }
    SLIPWAY_ASSIGN_OR_RETURN(Tensor row, constant->Reshaped({constant->num_elements()}));
    return rewriter.Constant(absl::StrCat(name, "_row"), std::move(row));
  }
  if (!SameExtents(rewriter.type(x).dimensions(), result.dimensions())) return kNoValue;
  const ValueId behind = RowsBehind(x, rewriter, context);
  if (behind != kNoValue && SameExtents(rewriter.type(behind).dimensions(), rows.dimensions())) {
    return behind;
  }
  return AddReshape(rewriter, x, rows.dimensions(), absl::StrCat(name, "_rows"));
}

}  // namespace

absl::StatusOr<bool> ElementwiseOverRows(Node& node, GraphRewriter& rewriter,
                                         const PassContext& context) {
  if (node.outputs.size() != 1) return false;
  const ValueType result = rewriter.type(node.outputs[0]);
  ValueId rows = kNoValue;
  for (const ValueId input : node.inputs) {
    if (input == kNoValue) return false;
    if (rows != kNoValue || !SameExtents(rewriter.type(input).dimensions(), result.dimensions())) {
      continue;
    }
    rows = RowsBehind(input, rewriter, context);
  }
  if (rows == kNoValue) return false;
  const ValueType matrix = rewriter.type(rows);
  std::vector<ValueId> inputs;
  for (const ValueId input : node.inputs) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId over,
                             OverRows(input, result, matrix, rewriter, context));
    if (over == kNoValue) return false;
    inputs.push_back(over);
  }
  const std::string name = DisplayName(rewriter.graph(), node);
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId over,
                           rewriter.Add(node.op, std::move(inputs), node.attributes, name));
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId shaped, AddReshape(rewriter, over, result.dimensions(),
                                                            absl::StrCat(name, "_shaped")));
  rewriter.Replace(node, shaped);
  return true;
}

}  // namespace slipway
