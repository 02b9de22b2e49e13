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
    const ValueType& type = rewriter.type(node.outputs[1]);
    if (!type.is_static()) return false;
    SLIPWAY_ASSIGN_OR_RETURN(Tensor mask, Tensor::Create(type.tensor()));
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

absl::StatusOr<bool> DropIfSameDtype(Node& node, GraphRewriter& rewriter, const PassContext&) {
  if (rewriter.type(node.inputs[0]).dtype() != rewriter.type(node.outputs[0]).dtype()) return false;
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
  const int rank = rewriter.type(node.inputs[0]).rank();
  if (perm == nullptr) {
    // The default reverses; say so.
    std::vector<int64_t> reversed;
    for (int64_t d = rank; d > 0; --d) reversed.push_back(d - 1);
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
  rules["Cast"] = DropIfSameDtype;
  rules["Clip"] = DropUnboundedClip;
  rules["Concat"] = DropSingleConcat;
  rules["Transpose"] = DropSortedTranspose;
}

}  // namespace slipway
