#include "core/operators/ensemble.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/operators/classes.h"

namespace slipway {
namespace {

constexpr DataType kReals[] = {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16};
constexpr DataType kNumbers[] = {DataType::kFloat32, DataType::kFloat64, DataType::kInt64,
                                 DataType::kInt32};
constexpr const char* kTests[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                  "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
constexpr const char* kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

// Where a word stands in a list; INVALID_ARGUMENT where it does not.
template <size_t n>
absl::StatusOr<int> PlaceOf(const NodeView& view, absl::string_view attribute,
                            absl::string_view word, const char* const (&words)[n]) {
  for (size_t i = 0; i < n; ++i) {
    if (word == words[i]) return static_cast<int>(i);
  }
  return view.Error(absl::StrCat("\"", attribute, "\" holds \"", word, "\", which is not known"));
}

absl::StatusOr<std::vector<double>> Reals(const NodeView& view, const std::string& attribute) {
  std::vector<double> reals;
  if (view.has(attribute + "_as_tensor")) return Reals(view, attribute + "_as_tensor");
  if (!view.has(attribute)) return reals;
  for (const AttributeSchema& schema : view.schema().attributes) {
    if (schema.name != attribute || schema.kind != AttributeKind::kFloats) continue;
    const std::vector<float>& floats = view.Floats(attribute);
    return std::vector<double>(floats.begin(), floats.end());
  }
  const Tensor& tensor = view.TensorValue(attribute);
  if (tensor.dtype() == DataType::kFloat32) {
    reals.assign(tensor.values<float>().begin(), tensor.values<float>().end());
  } else if (tensor.dtype() == DataType::kFloat64) {
    reals.assign(tensor.values<double>().begin(), tensor.values<double>().end());
  } else {
    return view.Unimplemented(
        absl::StrCat("\"", attribute, "\" of type ", Name(tensor.dtype()), " is not supported"));
  }
  return reals;
}

std::vector<int64_t> IntsOrNone(const NodeView& view, absl::string_view attribute) {
  return view.has(attribute) ? view.Ints(attribute) : std::vector<int64_t>();
}

absl::Status RequireCount(const NodeView& view, absl::string_view attribute, size_t count,
                          size_t wanted) {
  if (count == wanted) return absl::OkStatus();
  return view.Error(
      absl::StrCat("\"", attribute, "\" has ", count, " entries, ", wanted, " are needed"));
}

// That branches lead somewhere and no node is reached twice, and votes are for targets.
absl::Status CheckForest(const NodeView& view, const ForestView& forest) {
  const auto count = [](const auto& list) { return static_cast<int64_t>(list.size()); };
  for (const TreeVote& vote : forest.votes) {
    if (vote.target >= 0 && vote.target < forest.targets) continue;
    return view.Error(
        absl::StrCat("a leaf votes for target ", vote.target, " of ", forest.targets));
  }
  std::vector<bool> reached(forest.nodes.size(), false);
  std::vector<TreeTarget> open = forest.roots;
  while (!open.empty()) {
    const TreeTarget target = open.back();
    open.pop_back();
    if (target < -count(forest.leaves) || target >= count(forest.nodes)) {
      return view.Error("a branch leads to a node or leaf that is not there");
    }
    if (target < 0) continue;
    if (reached[target]) return view.Error(absl::StrCat("node ", target, " is reached twice"));
    reached[target] = true;
    open.push_back(forest.nodes[target].if_true);
    open.push_back(forest.nodes[target].if_false);
    if (forest.nodes[target].feature < 0) {
      return view.Error(absl::StrCat("node ", target, " tests a negative feature"));
    }
  }
  return absl::OkStatus();
}

// The lists of members of the nodes that test for them, each ended by NaN.
absl::Status SplitMembers(const NodeView& view, ForestView& forest) {
  SLIPWAY_ASSIGN_OR_RETURN(forest.members, Reals(view, "membership_values"));
  size_t at = 0;
  for (TreeNode& node : forest.nodes) {
    if (node.test != TreeTest::kMember) continue;
    const size_t first = at;
    while (at < forest.members.size() && !std::isnan(forest.members[at])) ++at;
    node.first_member = static_cast<int64_t>(first);
    node.members = static_cast<int64_t>(at - first);
    if (at == first)
      return view.Error("\"membership_values\" has fewer lists than there are tests");
    if (at < forest.members.size()) ++at;
  }
  return absl::OkStatus();
}

absl::StatusOr<ForestView> DecodeEnsemble(const NodeView& view) {
  ForestView forest;
  forest.roots = view.Ints("tree_roots");
  forest.targets = view.Int("n_targets");
  const int64_t aggregate = view.Int("aggregate_function");
  const int64_t transform = view.Int("post_transform");
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4) {
    return view.Error(
        absl::StrCat("aggregate ", aggregate, " or transformation ", transform, " is not known"));
  }
  forest.aggregate = static_cast<TreeAggregate>(aggregate);
  forest.transform = static_cast<ScoreTransform>(transform);
  const Tensor& modes = view.TensorValue("nodes_modes");
  if (modes.dtype() != DataType::kUint8) {
    return view.Error(absl::StrCat("\"nodes_modes\" is ", ToString(modes.type()), ", not u8"));
  }
  const std::vector<int64_t>& features = view.Ints("nodes_featureids");
  const size_t count = features.size();
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<double> splits, Reals(view, "nodes_splits"));
  const std::vector<int64_t> missing = IntsOrNone(view, "nodes_missing_value_tracks_true");
  SLIPWAY_RETURN_IF_ERROR(RequireCount(view, "nodes_modes", modes.num_elements(), count));
  SLIPWAY_RETURN_IF_ERROR(RequireCount(view, "nodes_splits", splits.size(), count));
  if (!missing.empty()) {
    SLIPWAY_RETURN_IF_ERROR(
        RequireCount(view, "nodes_missing_value_tracks_true", missing.size(), count));
  }
  for (const char* name :
       {"nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs", "nodes_falseleafs"}) {
    SLIPWAY_RETURN_IF_ERROR(RequireCount(view, name, view.Ints(name).size(), count));
  }
  // A number that is none leads to nothing, which CheckForest tells.
  const auto target = [&](const char* ids, const char* leaves, size_t i) -> TreeTarget {
    const int64_t id = view.Ints(ids)[i];
    if (id < 0) return static_cast<int64_t>(count);
    return view.Ints(leaves)[i] != 0 ? -1 - id : id;
  };
  for (size_t i = 0; i < count; ++i) {
    const uint8_t mode = modes.values<uint8_t>()[i];
    if (mode > 6) return view.Error(absl::StrCat("\"nodes_modes\" holds ", mode));
    TreeNode& node = forest.nodes.emplace_back();
    node.feature = features[i];
    node.test = static_cast<TreeTest>(mode);
    node.split = splits[i];
    node.missing_is_true = !missing.empty() && missing[i] != 0;
    node.if_true = target("nodes_truenodeids", "nodes_trueleafs", i);
    node.if_false = target("nodes_falsenodeids", "nodes_falseleafs", i);
  }
  SLIPWAY_RETURN_IF_ERROR(SplitMembers(view, forest));
  const std::vector<int64_t>& targets = view.Ints("leaf_targetids");
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<double> weights, Reals(view, "leaf_weights"));
  SLIPWAY_RETURN_IF_ERROR(RequireCount(view, "leaf_weights", weights.size(), targets.size()));
  for (size_t i = 0; i < targets.size(); ++i) {
    forest.leaves.push_back({static_cast<int64_t>(i), 1});
    forest.votes.push_back({targets[i], weights[i]});
  }
  return forest;
}

// The older two name nodes by tree and number; leaves are nodes with votes, which `prefix`_... list.
absl::StatusOr<ForestView> DecodeTrees(const NodeView& view, const std::string& prefix) {
  ForestView forest;
  SLIPWAY_ASSIGN_OR_RETURN(
      const int transform,
      PlaceOf(view, "post_transform", view.String("post_transform"), kTransforms));
  forest.transform = static_cast<ScoreTransform>(transform);
  if (view.has("aggregate_function")) {
    SLIPWAY_ASSIGN_OR_RETURN(
        const int aggregate,
        PlaceOf(view, "aggregate_function", view.String("aggregate_function"), kAggregates));
    forest.aggregate = static_cast<TreeAggregate>(aggregate);
  }
  const std::vector<int64_t>& trees = view.Ints("nodes_treeids");
  const size_t count = trees.size();
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<double> splits, Reals(view, "nodes_values"));
  SLIPWAY_RETURN_IF_ERROR(RequireCount(view, "nodes_values", splits.size(), count));
  const std::vector<std::string>& modes = view.Strings("nodes_modes");
  SLIPWAY_RETURN_IF_ERROR(RequireCount(view, "nodes_modes", modes.size(), count));
  for (const char* name :
       {"nodes_nodeids", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids"}) {
    SLIPWAY_RETURN_IF_ERROR(RequireCount(view, name, view.Ints(name).size(), count));
  }
  const std::vector<int64_t> missing = IntsOrNone(view, "nodes_missing_value_tracks_true");
  if (!missing.empty()) {
    SLIPWAY_RETURN_IF_ERROR(
        RequireCount(view, "nodes_missing_value_tracks_true", missing.size(), count));
  }
  using Key = std::pair<int64_t, int64_t>;
  std::map<Key, TreeTarget> places;
  int64_t nodes = 0;
  std::map<int64_t, bool> seen;
  for (size_t i = 0; i < count; ++i) {
    const bool is_leaf = modes[i] == "LEAF";
    const TreeTarget place = is_leaf ? -1 - static_cast<int64_t>(forest.leaves.size()) : nodes++;
    if (is_leaf) forest.leaves.emplace_back();
    if (!places.emplace(Key(trees[i], view.Ints("nodes_nodeids")[i]), place).second) {
      return view.Error(absl::StrCat("node ", view.Ints("nodes_nodeids")[i], " of tree ", trees[i],
                                     " is there twice"));
    }
    if (seen.emplace(trees[i], true).second) forest.roots.push_back(place);
  }
  const auto target = [&](const char* ids, size_t i) -> TreeTarget {
    const auto found = places.find(Key(trees[i], view.Ints(ids)[i]));
    return found == places.end() ? static_cast<int64_t>(count) : found->second;
  };
  for (size_t i = 0; i < count; ++i) {
    if (modes[i] == "LEAF") continue;
    SLIPWAY_ASSIGN_OR_RETURN(const int test, PlaceOf(view, "nodes_modes", modes[i], kTests));
    TreeNode& node = forest.nodes.emplace_back();
    node.feature = view.Ints("nodes_featureids")[i];
    node.test = static_cast<TreeTest>(test);
    node.split = splits[i];
    node.missing_is_true = !missing.empty() && missing[i] != 0;
    node.if_true = target("nodes_truenodeids", i);
    node.if_false = target("nodes_falsenodeids", i);
  }
  // The votes of each leaf one behind the other.
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<double> weights, Reals(view, prefix + "_weights"));
  const std::vector<int64_t>& vote_trees = view.Ints(prefix + "_treeids");
  const std::vector<int64_t>& vote_nodes = view.Ints(prefix + "_nodeids");
  const std::vector<int64_t>& vote_targets = view.Ints(prefix + "_ids");
  SLIPWAY_RETURN_IF_ERROR(
      RequireCount(view, prefix + "_weights", weights.size(), vote_trees.size()));
  SLIPWAY_RETURN_IF_ERROR(
      RequireCount(view, prefix + "_nodeids", vote_nodes.size(), vote_trees.size()));
  SLIPWAY_RETURN_IF_ERROR(
      RequireCount(view, prefix + "_ids", vote_targets.size(), vote_trees.size()));
  std::vector<std::vector<TreeVote>> votes(forest.leaves.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto found = places.find(Key(vote_trees[i], vote_nodes[i]));
    if (found == places.end() || found->second >= 0) {
      return view.Error(absl::StrCat("node ", vote_nodes[i], " of tree ", vote_trees[i],
                                     " votes and is no leaf"));
    }
    votes[-1 - found->second].push_back({vote_targets[i], weights[i]});
  }
  for (size_t leaf = 0; leaf < votes.size(); ++leaf) {
    forest.leaves[leaf] = {static_cast<int64_t>(forest.votes.size()),
                           static_cast<int64_t>(votes[leaf].size())};
    forest.votes.insert(forest.votes.end(), votes[leaf].begin(), votes[leaf].end());
  }
  SLIPWAY_ASSIGN_OR_RETURN(forest.base, Reals(view, "base_values"));
  return forest;
}

bool IsClassifier(const NodeView& view) { return view.op() == "ai.onnx.ml.TreeEnsembleClassifier"; }

absl::StatusOr<std::vector<ValueType>> EnsembleType(const NodeView& view) {
  const bool is_new = view.op() == "ai.onnx.ml.TreeEnsemble";
  SLIPWAY_RETURN_IF_ERROR(
      CheckDtype(view, 0, is_new ? absl::MakeConstSpan(kReals) : absl::MakeConstSpan(kNumbers)));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1, 2));
  SLIPWAY_ASSIGN_OR_RETURN(const ForestView forest, DecodeForest(view));
  const Dimensions x = DimensionsOf(view, 0);
  const Dimension rows = x.size() == 2 ? x[0] : Dimension(1);
  for (const TreeNode& node : forest.nodes) {
    if (!x.back().is_known() || node.feature < x.back().extent()) continue;
    return view.Error(
        absl::StrCat("a node tests feature ", node.feature, " of ", x.back().extent()));
  }
  const DataType scores = is_new ? view.input_type(0).dtype() : DataType::kFloat32;
  std::vector<ValueType> types;
  if (IsClassifier(view)) types.push_back(ValueType(ClassType(view, "classlabels_int64s"), {rows}));
  types.push_back(ValueType(scores, {rows, forest.targets}));
  return types;
}

}  // namespace

absl::StatusOr<ForestView> DecodeForest(const NodeView& view) {
  ForestView forest;
  if (view.op() == "ai.onnx.ml.TreeEnsemble") {
    SLIPWAY_ASSIGN_OR_RETURN(forest, DecodeEnsemble(view));
  } else if (IsClassifier(view)) {
    SLIPWAY_ASSIGN_OR_RETURN(forest, DecodeTrees(view, "class"));
    SLIPWAY_ASSIGN_OR_RETURN(forest.labels, DecodeClasses(view, "classlabels_int64s"));
    forest.targets = static_cast<int64_t>(forest.labels.size());
  } else {
    SLIPWAY_ASSIGN_OR_RETURN(forest, DecodeTrees(view, "target"));
    forest.targets = view.Int("n_targets");
  }
  if (forest.targets < 1 || forest.targets > (int64_t{1} << 31)) {
    return view.Error(absl::StrCat(forest.targets, " targets"));
  }
  const auto targets = static_cast<size_t>(forest.targets);
  if (!forest.base.empty() && !(IsClassifier(view) && targets == 2 && forest.base.size() == 1)) {
    SLIPWAY_RETURN_IF_ERROR(RequireCount(view, "base_values", forest.base.size(), targets));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckForest(view, forest));
  return forest;
}

absl::Status RegisterEnsembleOperators(OperatorRegistry& registry) {
  const auto list = [](const std::string& name, AttributeKind kind) {
    return AttributeSchema{name, kind};
  };
  const auto ints = [&list](const std::string& name) {
    return Required(list(name, AttributeKind::kInts));
  };
  const auto tensor = [&list](const std::string& name) {
    return list(name, AttributeKind::kTensor);
  };
  SLIPWAY_RETURN_IF_ERROR(registry.Add(OpaqueSchema(
      "ai.onnx.ml.TreeEnsemble", 1, EnsembleType,
      {IntAttribute("aggregate_function", 1), ints("leaf_targetids"),
       Required(tensor("leaf_weights")), tensor("membership_values"), IntAttribute("n_targets", 1),
       ints("nodes_falseleafs"), ints("nodes_falsenodeids"), ints("nodes_featureids"),
       tensor("nodes_hitrates"), IntsAttribute("nodes_missing_value_tracks_true"),
       Required(tensor("nodes_modes")), Required(tensor("nodes_splits")), ints("nodes_trueleafs"),
       ints("nodes_truenodeids"), IntAttribute("post_transform", 0), ints("tree_roots")})));

  for (const auto& [name, prefix] : {std::pair("TreeEnsembleRegressor", "target"),
                                     std::pair("TreeEnsembleClassifier", "class")}) {
    OperatorSchema schema =
        OpaqueSchema(absl::StrCat("ai.onnx.ml.", name), 1, EnsembleType,
                     {ints("nodes_falsenodeids"), ints("nodes_featureids"),
                      IntsAttribute("nodes_missing_value_tracks_true"), ints("nodes_nodeids"),
                      ints("nodes_treeids"), ints("nodes_truenodeids"),
                      Required(list("nodes_modes", AttributeKind::kStrings)),
                      StringAttribute("post_transform", "NONE")});
    for (const char* what : {"_ids", "_nodeids", "_treeids"}) {
      schema.attributes.push_back(ints(absl::StrCat(prefix, what)));
    }
    for (const std::string& reals :
         {std::string("base_values"), std::string("nodes_hitrates"), std::string("nodes_values"),
          absl::StrCat(prefix, "_weights")}) {
      schema.attributes.push_back(list(reals, AttributeKind::kFloats));
      schema.attributes.push_back(tensor(reals + "_as_tensor"));
    }
    if (schema.name == "ai.onnx.ml.TreeEnsembleClassifier") {
      schema.max_outputs = 2;
      schema.attributes.push_back(IntsAttribute("classlabels_int64s"));
      schema.attributes.push_back(list("classlabels_strings", AttributeKind::kStrings));
    } else {
      schema.attributes.push_back(StringAttribute("aggregate_function", "SUM"));
      schema.attributes.push_back(IntAttribute("n_targets", 1));
    }
    SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  }
  return absl::OkStatus();
}

}  // namespace slipway
