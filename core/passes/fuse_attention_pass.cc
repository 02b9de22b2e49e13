#include "core/passes/fuse_attention_pass.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/attention.h"
#include "core/passes/attention_mask.h"
#include "core/passes/attention_operand.h"
#include "core/passes/canonicalize_rules.h"
#include "core/passes/dead_code_pass.h"
#include "core/passes/graph_rewriter.h"

namespace slipway {
namespace {

using IntList = std::vector<int64_t>;

constexpr char kBlockAttention[] = "slipway.BlockAttention";
constexpr const char* kOrders[] = {"query_order", "key_order", "value_order"};

// More would fill a report.
constexpr size_t kMaxNotes = 32;

// One product of probabilities and values, while it is looked at. Where several heads of queries read one of keys and scores are seen by heads of queries in between, for a mask,
// the queries of these heads are rows of one matrix in both products: the attention is what sees the second one's result by heads of queries again.
class Match {
 public:
  // `node` is not emitted yet.
  Match(GraphRewriter& rewriter, const Node& node)
      : rewriter_(rewriter), node_(node), name_(DisplayName(rewriter.graph(), node)) {}

  // Finds the parts; false where it is something else.
  bool Find();
  // What `serves` says of the attention. REQUIRES: Find().
  absl::Status CheckServed(const ServesAttention& serves, const OperatorRegistry& registry) const;
  // The attention's output, as the node's. REQUIRES: Find().
  absl::StatusOr<ValueId> Emit();

 private:
  const ValueType& type(ValueId id) const { return rewriter_.type(id); }
  // Null where the maker is another operator, or its output is read elsewhere too.
  const Node* OnlyMaker(ValueId value, absl::string_view op, int uses = 1) {
    const Node* maker = rewriter_.Producer(value);
    return maker != nullptr && maker->op == op && rewriter_.Uses(value) == uses ? maker : nullptr;
  }
  ValueId ProbabilitiesBehind(ValueId value);
  // Whether one is the other by other heads: of queries, or of keys.
  bool AreHeadsOf(ValueId a, ValueId b) const;
  // What is shown as `value`, by heads of queries or of keys, and is read by that alone; kNoValue where that is something else.
  ValueId SeenOtherwise(ValueId value);
  // Takes numbers that scores are multiplied by into the scale.
  ValueId TakeScale(ValueId scores);
  void FindOperands(const ValueId factors[3]);
  bool DoOperandsFit();
  Dimensions ShapeOfMask() const;
  Attributes AttributesOf() const;
  absl::StatusOr<ValueId> Seen(ValueId value, const Dimensions& shape);

  GraphRewriter& rewriter_;
  const Node& node_;
  const std::string name_;
  bool is_grouped_ = false;
  AttentionOperand operands_[3];
  Dimensions scores_;
  int64_t heads_ = 1;
  int64_t key_heads_ = 1;
  double scale_ = 1;
  bool nan_is_zero_ = false;
  TakenMask mask_;
};

// Exporters put zeros in place of what queries make that see no key.
ValueId Match::ProbabilitiesBehind(ValueId value) {
  const Node* choice = OnlyMaker(value, "Where");
  if (choice == nullptr) return rewriter_.Uses(value) == 1 ? value : kNoValue;
  const ValueId probabilities = choice->inputs[2];
  if (FindNumber(rewriter_, choice->inputs[1]) != 0.0f || rewriter_.Uses(probabilities) != 2)
    return kNoValue;
  const Node* is_nan = OnlyMaker(choice->inputs[0], "IsNaN");
  if (is_nan == nullptr || is_nan->inputs[0] != probabilities) return kNoValue;
  nan_is_zero_ = true;
  return probabilities;
}

bool Match::AreHeadsOf(ValueId a, ValueId b) const {
  const Dimensions one = type(a).dimensions();
  const Dimensions other = type(b).dimensions();
  return one.size() == 4 && other.size() == 4 && SameExtent(one[0], other[0]) &&
         SameExtent(one[1] * one[2], other[1] * other[2]) && SameExtent(one[3], other[3]);
}

ValueId Match::SeenOtherwise(ValueId value) {
  const Node* view = rewriter_.Producer(value);
  if (view == nullptr || !IsReshaping(*view) || rewriter_.Uses(value) != 1 ||
      !AreHeadsOf(value, view->inputs[0])) {
    return kNoValue;
  }
  return view->inputs[0];
}

ValueId Match::TakeScale(ValueId scores) {
  while (rewriter_.Uses(scores) == 1) {
    const ValueId other = TakeFactor(rewriter_, scores, scale_);
    if (other == scores) break;
    scores = other;
  }
  return scores;
}

bool Match::Find() {
  const Node* mixing = &node_;
  if (IsReshaping(node_)) {
    mixing = AreHeadsOf(node_.outputs[0], node_.inputs[0]) ? OnlyMaker(node_.inputs[0], "MatMul")
                                                           : nullptr;
    is_grouped_ = true;
  }
  if (mixing == nullptr || mixing->op != "MatMul") return false;
  const int rank = type(node_.outputs[0]).rank();
  if (rank != 3 && rank != 4) return false;
  ValueId probabilities = mixing->inputs[0];
  if (is_grouped_) probabilities = SeenOtherwise(probabilities);
  if (probabilities != kNoValue) probabilities = ProbabilitiesBehind(probabilities);
  const Node* softmax = probabilities == kNoValue ? nullptr : rewriter_.Producer(probabilities);
  if (softmax == nullptr || softmax->op != "Softmax") return false;
  const auto* axis = softmax->attributes.FindAs<int64_t>("axis");
  if (axis != nullptr && *axis != -1 && *axis != rank - 1) return false;
  ValueId scores = TakeMasks(rewriter_, softmax->inputs[0], mask_);
  if (scores == kNoValue) return false;
  scores = TakeScale(scores);
  scores_ = type(scores).dimensions();
  if (is_grouped_) {
    scores = SeenOtherwise(scores);
    if (scores == kNoValue) return false;
    scores = TakeScale(scores);
  }
  const Node* product = OnlyMaker(scores, "MatMul");
  if (product == nullptr) return false;
  const ValueId factors[] = {product->inputs[0], product->inputs[1], mixing->inputs[1]};
  for (const ValueId factor : factors) {
    if (type(factor).rank() != rank || type(factor).dtype() != DataType::kFloat32) return false;
  }
  FindOperands(factors);
  if (!DoOperandsFit()) return false;
  for (AttentionOperand& operand : operands_) TakeWhole(rewriter_, operand);
  return true;
}

// Heads that are repeated are read where they lie, if keys and values are so alike.
void Match::FindOperands(const ValueId factors[3]) {
  const bool has_heads = scores_.size() == 4;
  const IntList rows = has_heads ? IntList{0, 1, 2, 3} : IntList{0, 2, 3};
  const IntList columns = has_heads ? IntList{0, 1, 3, 2} : IntList{0, 3, 2};
  ValueId queries = factors[0];
  if (is_grouped_) {
    // What shows the queries of several heads as rows of one has the same elements in the same order.
    const ValueId by_head = SeenOtherwise(queries);
    operands_[kQueries] = {queries, type(queries).dimensions(), rows};
    if (by_head != kNoValue && SameExtent(type(by_head).dimension(1), scores_[1])) {
      operands_[kQueries] = FindOperand(rewriter_, by_head, rows, &scale_, false);
    } else {
      operands_[kQueries].shape[1] = scores_[1];
      operands_[kQueries].shape[2] = scores_[2];
    }
  } else {
    operands_[kQueries] = FindOperand(rewriter_, queries, rows, &scale_, false);
  }
  for (const bool takes_repeats : {true, false}) {
    double scale = scale_;
    operands_[kKeys] = FindOperand(rewriter_, factors[1], columns, &scale, takes_repeats);
    operands_[kValues] = FindOperand(rewriter_, factors[2], rows, nullptr, takes_repeats);
    if (SameExtent(operands_[kKeys].extent(kHead), operands_[kValues].extent(kHead)) ||
        !takes_repeats) {
      scale_ = scale;
      return;
    }
  }
}

bool Match::DoOperandsFit() {
  const auto extent = [this](BlockOperand operand, BlockAxis axis) {
    return operands_[operand].extent(axis);
  };
  const Dimension heads = extent(kQueries, kHead);
  const Dimension key_heads = extent(kKeys, kHead);
  const Dimension keys = extent(kKeys, kPosition);
  if (!heads.is_known() || !key_heads.is_known() || heads.extent() < 1 || key_heads.extent() < 1 ||
      heads.extent() % key_heads.extent() != 0 || keys == Dimension(0) || keys.is_unknown() ||
      extent(kQueries, kPosition).is_unknown() || !extent(kKeys, kItem).is_known() ||
      !extent(kValues, kItem).is_known()) {
    return false;
  }
  heads_ = heads.extent();
  key_heads_ = key_heads.extent();
  return SameExtent(extent(kValues, kHead), key_heads) &&
         SameExtent(extent(kQueries, kBatch), extent(kKeys, kBatch)) &&
         SameExtent(extent(kValues, kBatch), extent(kKeys, kBatch)) &&
         SameExtent(extent(kValues, kPosition), keys);
}

// The mask's own dimensions behind others of extent 1, and where scores have no heads, a head.
Dimensions Match::ShapeOfMask() const {
  Dimensions shape = type(mask_.value).dimensions();
  if (mask_.added != kNoValue) {
    // Both broadcast to the scores.
    const Dimensions other = type(mask_.added).dimensions();
    while (shape.size() < other.size()) shape.insert(shape.begin(), 1);
    for (size_t d = 0; d < other.size(); ++d) {
      Dimension& extent = shape[shape.size() - other.size() + d];
      if (extent == Dimension(1)) extent = other[d];
    }
  }
  if (shape.size() == 3 && scores_.size() == 3) shape.insert(shape.begin() + 1, 1);
  while (shape.size() < 4) shape.insert(shape.begin(), 1);
  return shape;
}

absl::StatusOr<ValueId> Match::Seen(ValueId value, const Dimensions& shape) {
  if (type(value).dimensions() == shape) return value;
  return AddReshape(rewriter_, value, shape, absl::StrCat(name_, "_four"));
}

Attributes Match::AttributesOf() const {
  Attributes attributes;
  IntList first_heads;
  for (int i = 0; i < 3; ++i) {
    first_heads.push_back(operands_[i].first_head);
    attributes.Set(kOrders[i], operands_[i].order);
  }
  attributes.Set("output_order", IntList{kBatch, kHead, kPosition, kItem});
  attributes.Set("first_heads", first_heads);
  attributes.Set("heads", heads_);
  attributes.Set("key_heads", key_heads_);
  attributes.Set("scale", static_cast<float>(scale_));
  if (mask_.filling != 0) attributes.Set("filling", mask_.filling);
  if (mask_.past_keys.has_value()) {
    attributes.Set("is_causal", int64_t{1});
    if (mask_.behind.has_value()) attributes.Set("behind", *mask_.behind);
    if (*mask_.past_keys != 0) attributes.Set("past_keys", *mask_.past_keys);
  }
  if (nan_is_zero_) attributes.Set("nan_is_zero", int64_t{1});
  return attributes;
}

absl::Status Match::CheckServed(const ServesAttention& serves,
                                const OperatorRegistry& registry) const {
  std::vector<ValueType> types;
  for (const AttentionOperand& operand : operands_) {
    types.emplace_back(type(operand.value).dtype(), operand.shape);
  }
  if (mask_.value != kNoValue) types.emplace_back(type(mask_.value).dtype(), ShapeOfMask());
  Node node;
  node.op = kBlockAttention;
  node.attributes = AttributesOf();
  std::vector<const ValueType*> seen;
  for (size_t i = 0; i < types.size(); ++i) {
    node.inputs.push_back(static_cast<ValueId>(i));
    seen.push_back(&types[i]);
  }
  node.outputs = {static_cast<ValueId>(types.size())};
  SLIPWAY_ASSIGN_OR_RETURN(
      const NodeView view,
      NodeView::Create(node, registry, name_, seen, std::vector<const Tensor*>(seen.size())));
  return serves(view);
}

absl::StatusOr<ValueId> Match::Emit() {
  std::vector<ValueId> inputs;
  for (const AttentionOperand& operand : operands_) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId input, Seen(operand.value, operand.shape));
    inputs.push_back(input);
  }
  if (mask_.value != kNoValue) {
    ValueId mask = mask_.value;
    if (mask_.added != kNoValue) {
      SLIPWAY_ASSIGN_OR_RETURN(
          mask, rewriter_.Add("Add", {mask, mask_.added}, {}, absl::StrCat(name_, "_masks")));
    }
    SLIPWAY_ASSIGN_OR_RETURN(mask, Seen(mask, ShapeOfMask()));
    if (mask_.is_inverted) {
      SLIPWAY_ASSIGN_OR_RETURN(mask,
                               rewriter_.Add("Not", {mask}, {}, absl::StrCat(name_, "_seen")));
    }
    inputs.push_back(mask);
  }
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId y, rewriter_.Add(kBlockAttention, std::move(inputs), AttributesOf(), name_));
  if (scores_.size() == 4) return y;
  return AddReshape(rewriter_, y, type(node_.outputs[0]).dimensions(),
                    absl::StrCat(name_, "_three"));
}

// A Transpose of what an attention makes, for nobody else: the same attention in another order.
absl::StatusOr<bool> TurnOutput(const Node& node, GraphRewriter& rewriter) {
  if (node.op != "Transpose") return false;
  const auto* perm = node.attributes.FindAs<IntList>("perm");
  const Node* maker = rewriter.Producer(node.inputs[0]);
  if (perm == nullptr || maker == nullptr || maker->op != kBlockAttention ||
      rewriter.Uses(node.inputs[0]) != 1) {
    return false;
  }
  Attributes attributes = maker->attributes;
  const IntList before = *attributes.FindAs<IntList>("output_order");
  IntList order;
  for (const int64_t d : *perm) order.push_back(before[d]);
  attributes.Set("output_order", order);
  const std::vector<ValueId> inputs = maker->inputs;
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId turned,
                           rewriter.Add(kBlockAttention, inputs, std::move(attributes),
                                        DisplayName(rewriter.graph(), *maker)));
  rewriter.Replace(node, turned);
  return true;
}

}  // namespace

absl::StatusOr<Graph> FuseAttention(Graph graph, const PassContext& context,
                                    const ServesAttention& serves) {
  GraphRewriter rewriter(std::move(graph), context.registry);
  for (Node& node : rewriter.TakeNodes()) {
    rewriter.Resolve(node);
    Match match(rewriter, node);
    if (match.Find()) {
      const absl::Status served = match.CheckServed(serves, context.registry);
      if (served.ok()) {
        SLIPWAY_ASSIGN_OR_RETURN(const ValueId y, match.Emit());
        rewriter.Replace(node, y);
        continue;
      }
      if (!absl::IsUnimplemented(served)) return served;
      if (context.ledger != nullptr && context.ledger->notes.size() < kMaxNotes) {
        context.ledger->notes.push_back(
            absl::StrCat("\"", DisplayName(rewriter.graph(), node),
                         "\" stays two products and a Softmax: ", served.message()));
      }
    }
    SLIPWAY_ASSIGN_OR_RETURN(const bool is_turned, TurnOutput(node, rewriter));
    if (!is_turned) rewriter.Keep(std::move(node));
  }
  SLIPWAY_ASSIGN_OR_RETURN(graph, std::move(rewriter).Finish());
  return DeadCode(std::move(graph), context);
}

}  // namespace slipway
