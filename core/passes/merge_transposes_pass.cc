#include "core/passes/merge_transposes_pass.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/passes/canonicalize_rules.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {
namespace {

// A tensor seen as one of `extents` whose dimensions are put in another order: dimension i becomes extents[order[i]].
struct Permutation {
  Shape extents;
  std::vector<int64_t> order;
};

// What a node does to its input; nothing where it is no permutation of known extents.
std::optional<Permutation> PermutationOf(const Node& node, const GraphRewriter& rewriter) {
  const bool is_pack = node.op == "slipway.Pack";
  const bool is_unpack = node.op == "slipway.Unpack";
  if (!is_pack && !is_unpack && node.op != "Transpose") return std::nullopt;
  if (!rewriter.type(node.inputs[0]).is_static()) return std::nullopt;
  const Shape x = rewriter.type(node.inputs[0]).shape();
  if (NumElements(x) == 0) return std::nullopt;
  if (is_unpack) return Permutation{x, {0, 1, 4, 2, 3}};
  if (is_pack) {
    const int64_t block = *node.attributes.FindAs<int64_t>("block");
    if (x[1] % block != 0) return std::nullopt;
    return Permutation{{x[0], x[1] / block, block, x[2], x[3]}, {0, 1, 3, 4, 2}};
  }
  const auto* perm = node.attributes.FindAs<std::vector<int64_t>>("perm");
  if (perm == nullptr) return std::nullopt;
  return Permutation{x, *perm};
}

// Each extent of two shapes as the extents that it is cut into, from outer to inner, so that these are the same for both.
struct CommonCuts {
  std::vector<Shape> first, second;
};
std::optional<CommonCuts> CutTogether(const Shape& first, const Shape& second) {
  CommonCuts cuts = {std::vector<Shape>(first.size()), std::vector<Shape>(second.size())};
  size_t i = first.size(), j = second.size();
  int64_t left_of_first = 1, left_of_second = 1;
  while (true) {
    while (left_of_first == 1 && i > 0) left_of_first = first[--i];
    while (left_of_second == 1 && j > 0) left_of_second = second[--j];
    if (left_of_first == 1 || left_of_second == 1) break;
    const int64_t cut = std::min(left_of_first, left_of_second);
    if (left_of_first % cut != 0 || left_of_second % cut != 0) return std::nullopt;
    cuts.first[i].insert(cuts.first[i].begin(), cut);
    cuts.second[j].insert(cuts.second[j].begin(), cut);
    left_of_first /= cut;
    left_of_second /= cut;
  }
  if (left_of_first != left_of_second) return std::nullopt;
  return cuts;
}

// One after the other. The result has no extents of 1, and no dimensions that stay together; nothing where there are no common cuts.
std::optional<Permutation> Merged(const Permutation& first, const Permutation& second) {
  Shape between;
  for (const int64_t d : first.order) between.push_back(first.extents[d]);
  const std::optional<CommonCuts> cuts = CutTogether(between, second.extents);
  if (!cuts.has_value()) return std::nullopt;
  // Cuts are numbered as they lie in between.
  const auto number = [](const std::vector<Shape>& of) {
    std::vector<std::vector<int64_t>> numbers;
    int64_t next = 0;
    for (const Shape& extents : of) {
      numbers.emplace_back(extents.size());
      std::iota(numbers.back().begin(), numbers.back().end(), next);
      next += static_cast<int64_t>(extents.size());
    }
    return numbers;
  };
  const std::vector<std::vector<int64_t>> of_first = number(cuts->first);
  const std::vector<std::vector<int64_t>> of_second = number(cuts->second);
  Shape extent_of;  // By number.
  for (const Shape& extents : cuts->first) {
    extent_of.insert(extent_of.end(), extents.begin(), extents.end());
  }
  std::vector<int64_t> before;  // Numbers as they lie in the first one's input.
  for (size_t d = 0; d < first.extents.size(); ++d) {
    const auto at = std::find(first.order.begin(), first.order.end(), static_cast<int64_t>(d));
    const auto& numbers = of_first[at - first.order.begin()];
    before.insert(before.end(), numbers.begin(), numbers.end());
  }
  std::vector<int64_t> after;
  for (const int64_t d : second.order) {
    after.insert(after.end(), of_second[d].begin(), of_second[d].end());
  }
  std::vector<int64_t> place(extent_of.size());  // In `before`, by number.
  for (size_t i = 0; i < before.size(); ++i) place[before[i]] = static_cast<int64_t>(i);
  // Runs of numbers that lie one after the other in both are one dimension.
  std::vector<std::pair<int64_t, int64_t>> runs;  // By first place: that, and the extent.
  for (size_t i = 0; i < after.size(); ++i) {
    if (i > 0 && place[after[i]] == place[after[i - 1]] + 1) {
      runs.back().second *= extent_of[after[i]];
    } else {
      runs.push_back({place[after[i]], extent_of[after[i]]});
    }
  }
  std::vector<int64_t> sorted(runs.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(),
            [&runs](int64_t a, int64_t b) { return runs[a].first < runs[b].first; });
  Permutation merged;
  merged.order.resize(runs.size());
  for (size_t i = 0; i < sorted.size(); ++i) {
    merged.extents.push_back(runs[sorted[i]].second);
    merged.order[sorted[i]] = static_cast<int64_t>(i);
  }
  return merged;
}

// The node that makes what views show; null where there is none.
const Node* MakerBehindViews(ValueId value, GraphRewriter& rewriter,
                             const OperatorRegistry& registry) {
  const Node* maker = rewriter.Producer(value);
  while (maker != nullptr && registry.MovementOf(maker->op) == Movement::kView) {
    if (!rewriter.type(maker->inputs[0]).is_static()) return nullptr;
    maker = rewriter.Producer(maker->inputs[0]);
  }
  return maker;
}

absl::StatusOr<bool> Merge(const Node& node, GraphRewriter& rewriter,
                           const OperatorRegistry& registry) {
  const std::optional<Permutation> second = PermutationOf(node, rewriter);
  if (!second.has_value()) return false;
  const Node* maker = MakerBehindViews(node.inputs[0], rewriter, registry);
  if (maker == nullptr) return false;
  const std::optional<Permutation> first = PermutationOf(*maker, rewriter);
  if (!first.has_value()) return false;
  const std::optional<Permutation> merged = Merged(*first, *second);
  if (!merged.has_value()) return false;
  ValueId y = maker->inputs[0];
  const std::string name = DisplayName(rewriter.graph(), node);
  if (merged->order.size() > 1) {
    SLIPWAY_ASSIGN_OR_RETURN(
        y, AddReshape(rewriter, y, ToDimensions(merged->extents), absl::StrCat(name, "_cut")));
    SLIPWAY_ASSIGN_OR_RETURN(y, rewriter.Add("Transpose", {y}, {{"perm", merged->order}},
                                             absl::StrCat(name, "_turned")));
  }
  SLIPWAY_ASSIGN_OR_RETURN(
      y, AddReshape(rewriter, y, rewriter.type(node.outputs[0]).dimensions(), name));
  rewriter.Replace(node, y);
  return true;
}

// What is done to each element of a view of a permutation, done before it is viewed: so that they can be one kernel.
absl::StatusOr<bool> DoBeforeView(const Node& node, GraphRewriter& rewriter,
                                  const OperatorRegistry& registry) {
  const OperatorSchema* schema = registry.Find(node.op);
  if (schema == nullptr || !IsElementwise(schema->pattern) || node.outputs.size() != 1)
    return false;
  const Node* view = rewriter.Producer(node.inputs[0]);
  if (view == nullptr || registry.MovementOf(view->op) != Movement::kView) return false;
  const ValueId turned = view->inputs[0];
  const Node* maker = rewriter.Producer(turned);
  if (maker == nullptr || maker->op != "Transpose" || rewriter.Uses(node.inputs[0]) != 1)
    return false;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const Tensor* number = rewriter.constant(node.inputs[i]);
    if (number == nullptr || number->num_elements() != 1 || number->shape().size() > 1)
      return false;
  }
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = turned;
  const std::string name = DisplayName(rewriter.graph(), node);
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId done,
                           rewriter.Add(node.op, std::move(inputs), node.attributes, name));
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId y,
      AddReshape(rewriter, done, rewriter.type(node.outputs[0]).dimensions(), name));
  rewriter.Replace(node, y);
  return true;
}

}  // namespace

absl::StatusOr<Graph> MergeTransposes(Graph graph, const PassContext& context) {
  GraphRewriter rewriter(std::move(graph), context.registry);
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    SLIPWAY_ASSIGN_OR_RETURN(bool is_done, Merge(node, rewriter, context.registry));
    if (!is_done) {
      SLIPWAY_ASSIGN_OR_RETURN(is_done, DoBeforeView(node, rewriter, context.registry));
    }
    if (!is_done) rewriter.Keep(std::move(node));
  }
  SLIPWAY_ASSIGN_OR_RETURN(graph, std::move(rewriter).Finish());
  return DeadCode(std::move(graph), context);
}

}  // namespace slipway
