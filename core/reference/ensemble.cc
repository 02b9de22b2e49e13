#include "core/operators/ensemble.h"

#include "core/base/status_macros.h"
#include "core/kernels/ensemble.h"
#include "core/reference/families.h"

namespace slipway {
namespace {

absl::Status Parameters(const NodeView& view, KernelParameters& parameters) {
  SLIPWAY_ASSIGN_OR_RETURN(const ForestView forest, DecodeForest(view));
  const auto add_count = [&parameters](const auto& list) {
    parameters.Add(static_cast<int64_t>(list.size()));
  };
  parameters.Add(static_cast<int64_t>(forest.aggregate));
  parameters.Add(static_cast<int64_t>(forest.transform));
  parameters.Add(forest.targets);
  add_count(forest.roots);
  add_count(forest.nodes);
  add_count(forest.leaves);
  add_count(forest.votes);
  add_count(forest.members);
  add_count(forest.base);
  parameters.AddAll(forest.roots);
  for (const TreeNode& node : forest.nodes) {
    parameters.Add(node.feature);
    parameters.Add(static_cast<int64_t>(node.test));
    parameters.AddReal(node.split);
    parameters.Add(node.first_member);
    parameters.Add(node.members);
    parameters.Add(node.missing_is_true);
    parameters.Add(node.if_true);
    parameters.Add(node.if_false);
  }
  for (const TreeLeaf& leaf : forest.leaves) {
    parameters.Add(leaf.first_vote);
    parameters.Add(leaf.votes);
  }
  for (const TreeVote& vote : forest.votes) {
    parameters.Add(vote.target);
    parameters.AddReal(vote.weight);
  }
  for (const double member : forest.members) parameters.AddReal(member);
  for (const double base : forest.base) parameters.AddReal(base);
  parameters.AddAll(forest.labels);
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterEnsembleKernels(KernelColumn& kernels) {
  const CallableKernel scores = {"slipway_TreeEnsemble", slipway_TreeEnsemble, Parameters};
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("ai.onnx.ml.TreeEnsemble", scores));
  SLIPWAY_RETURN_IF_ERROR(kernels.Add("ai.onnx.ml.TreeEnsembleRegressor", scores));
  return kernels.Add(
      "ai.onnx.ml.TreeEnsembleClassifier",
      CallableKernel{"slipway_TreeEnsembleClassifier", slipway_TreeEnsembleClassifier, Parameters});
}

}  // namespace slipway
