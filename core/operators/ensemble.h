// Forests of decision trees, of the domain ai.onnx.ml: TreeEnsemble, TreeEnsembleRegressor, TreeEnsembleClassifier.
#ifndef SLIPWAY_CORE_OPERATORS_ENSEMBLE_H_
#define SLIPWAY_CORE_OPERATORS_ENSEMBLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/graph/operator_registry.h"

namespace slipway {

enum class TreeTest {
  kAtMost = 0,
  kBelow = 1,
  kAtLeast = 2,
  kAbove = 3,
  kEqual = 4,
  kDiffers = 5,
  kMember = 6,  // One of a list.
};
enum class TreeAggregate { kAverage = 0, kSum = 1, kMin = 2, kMax = 3 };
enum class ScoreTransform { kNone = 0, kSoftmax = 1, kLogistic = 2, kSoftmaxZero = 3, kProbit = 4 };

// What a branch leads to: a node by its index, or a leaf as -1 - index.
using TreeTarget = int64_t;

struct TreeNode {
  int64_t feature = 0;
  TreeTest test = TreeTest::kAtMost;
  double split = 0;
  int64_t first_member = 0;  // kMember: where its list lies, and how long it is.
  int64_t members = 0;
  bool missing_is_true = false;  // Where NaN goes.
  TreeTarget if_true = 0;
  TreeTarget if_false = 0;
};

// The votes of a leaf are votes [first_vote, first_vote + votes).
struct TreeLeaf {
  int64_t first_vote = 0;
  int64_t votes = 0;
};
struct TreeVote {
  int64_t target = 0;
  double weight = 0;
};

// Every branch leads to where it says, and every node is reached once: whoever follows branches comes to a leaf.
struct ForestView {
  std::vector<TreeTarget> roots;
  std::vector<TreeNode> nodes;
  std::vector<TreeLeaf> leaves;
  std::vector<TreeVote> votes;
  std::vector<double> members;
  int64_t targets = 1;
  std::vector<double> base;  // Of each target, or empty.
  TreeAggregate aggregate = TreeAggregate::kSum;
  ScoreTransform transform = ScoreTransform::kNone;
  std::vector<int64_t> labels;  // TreeEnsembleClassifier: of the targets.
};
absl::StatusOr<ForestView> DecodeForest(const NodeView& view);

absl::Status RegisterEnsembleOperators(OperatorRegistry& registry);

}  // namespace slipway

#endif  // SLIPWAY_CORE_OPERATORS_ENSEMBLE_H_
