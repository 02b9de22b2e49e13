// Nodes that change nothing, or say a constant.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/constants.h"
#include "core/passes/canonicalize_rules.h"

namespace slipway {
namespace {

// Type inference refuses training mode.
absl::StatusOr<bool> DropDropout(Node& node, GraphRewriter& rewriter, const PassContext&) {
  if (node.outputs.size() > 1 && node.outputs[1] != kNoValue) {
    const TensorType& type = rewriter.type(node.outputs[1]);
    SLIPWAY_ASSIGN_OR_RETURN(Tensor mask, Tensor::Create(type));
    for (bool& keep : mask.mutable_values<bool>()) keep = true;
    const std::string name = absl::StrCat(DisplayName(rewriter.graph(), node), "_mask");
    rewriter.ReplaceOutput(node.outputs[1], rewriter.Constant(name, std::move(mask)));
  }
  rewriter.Replace(node, node.inputs[0]);
  return true;
}

absl::StatusOr<bool> ConstantToValue(Node& node, GraphRewriter& rewriter,
                                     const PassContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                           NodeView::Create(rewriter.graph(), node, context.registry));
  SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, DecodeConstant(view));
  rewriter.Replace(node, rewriter.Constant(view.display_name(), std::move(tensor)));
  return true;
}

absl::StatusOr<bool> DropIfSameType(Node& node, GraphRewriter& rewriter, const PassContext&) {
  if (rewriter.type(node.inputs[0]) != rewriter.type(node.outputs[0])) return false;
  rewriter.Replace(node, node.inputs[0]);
  return true;
}

absl::StatusOr<bool> DropUnboundedClip(Node& node, GraphRewriter& rewriter, const PassContext&) {
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != kNoValue) return false;
  }
  rewriter.Replace(node, node.inputs[0]);
  return true;
}

absl::StatusOr<bool> DropSingleConcat(Node& node, GraphRewriter& rewriter, const PassContext&) {
  if (node.inputs.size() != 1) return false;
  rewriter.Replace(node, node.inputs[0]);
  return true;
}

absl::StatusOr<bool> DropSortedTranspose(Node& node, GraphRewriter& rewriter, const PassContext&) {
  const auto* perm = node.attributes.FindAs<std::vector<int64_t>>("perm");
  const size_t rank = rewriter.type(node.inputs[0]).shape.size();
  if (perm == nullptr) {
    // The default reverses; say so.
    std::vector<int64_t> reversed;
    for (size_t d = rank; d > 0; --d) reversed.push_back(static_cast<int64_t>(d) - 1);
    node.attributes.Set("perm", reversed);
    perm = node.attributes.FindAs<std::vector<int64_t>>("perm");
  }
  if (!std::is_sorted(perm->begin(), perm->end())) return false;
  rewriter.Replace(node, node.inputs[0]);
  return true;
}

}  // namespace

void AddIdentityRules(CanonicalizeRules& rules) {
  rules["Dropout"] = DropDropout;
  rules["Constant"] = ConstantToValue;
  rules["Cast"] = DropIfSameType;
  rules["Clip"] = DropUnboundedClip;
  rules["Concat"] = DropSingleConcat;
  rules["Transpose"] = DropSortedTranspose;
}

}  // namespace slipway
