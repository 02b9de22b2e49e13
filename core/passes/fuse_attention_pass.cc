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

// A tensor, seen as one of four dimensions, and which axis (BlockAxis) each of them is.
struct Operand {
  ValueId value = kNoValue;
  Dimensions shape;
  IntList order;
  int64_t first_head = 0;

  Dimension extent(BlockAxis axis) const {
    for (size_t d = 0; d < order.size(); ++d) {
      if (order[d] == axis) return shape[d];
    }
    return Dimension();
  }
};

// One product of probabilities and values, while it is looked at.
class Match {
 public:
  // `node` is not emitted yet.
  Match(GraphRewriter& rewriter, const Node& node)
      : rewriter_(rewriter), node_(node), name_(DisplayName(rewriter.graph(), node)) {}

  // Finds the parts; false where it is something else.
  bool Find();
  // What `serves` says of the attention. REQUIRES: Find().
  absl::Status CheckServed(const ServesAttention& serves, const OperatorRegistry& registry) const;
  // The attention's output, in the order of the product. REQUIRES: Find().
  absl::StatusOr<ValueId> Emit();

 private:
  const ValueType& type(ValueId id) const { return rewriter_.type(id); }
  // Null where the maker is another operator, or its output is read elsewhere too.
  const Node* OnlyMaker(ValueId value, absl::string_view op, int uses = 1) {
    const Node* maker = rewriter_.Producer(value);
    return maker != nullptr && maker->op == op && rewriter_.Uses(value) == uses ? maker : nullptr;
  }
  std::optional<float> Number(ValueId value) const;
  // Takes numbers that a value is multiplied or divided by into the scale.
  ValueId TakeScale(ValueId value);
  ValueId ProbabilitiesBehind(ValueId value);
  // The tensor behind Transposes and numbers, the value's dimensions being `order`.
  Operand Behind(ValueId value, IntList order, bool takes_scale);
  // Where the operand is a part of one product, that product.
  void TakeWhole(Operand& operand);
  Dimensions ShapeOfMask() const;
  Attributes AttributesOf() const;
  absl::StatusOr<ValueId> Seen(ValueId value, const Dimensions& shape);

  GraphRewriter& rewriter_;
  const Node& node_;
  const std::string name_;
  Operand operands_[3];
  Dimensions scores_;
  int64_t heads_ = 1;
  int64_t key_heads_ = 1;
  double scale_ = 1;
  bool nan_is_zero_ = false;
  TakenMask mask_;
};

std::optional<float> Match::Number(ValueId value) const {
  const Tensor* constant = rewriter_.constant(value);
  if (constant == nullptr || constant->dtype() != DataType::kFloat32 ||
      constant->num_elements() != 1) {
    return std::nullopt;
  }
  return constant->values<float>()[0];
}

ValueId Match::TakeScale(ValueId value) {
  const Node* maker = rewriter_.Producer(value);
  if (maker == nullptr || (maker->op != "Mul" && maker->op != "Div")) return value;
  for (const int i : {0, 1}) {
    const std::optional<float> number = Number(maker->inputs[1 - i]);
    const ValueId other = maker->inputs[i];
    if (!number.has_value() || type(other).rank() != type(value).rank()) continue;
    if (maker->op == "Div" && i == 1) continue;
    scale_ = maker->op == "Mul" ? scale_ * *number : scale_ / *number;
    return other;
  }
  return value;
}

// Exporters put zeros in place of what queries make that see no key.
ValueId Match::ProbabilitiesBehind(ValueId value) {
  const Node* choice = OnlyMaker(value, "Where");
  if (choice == nullptr) return rewriter_.Uses(value) == 1 ? value : kNoValue;
  const ValueId probabilities = choice->inputs[2];
  if (Number(choice->inputs[1]) != 0.0f || rewriter_.Uses(probabilities) != 2) return kNoValue;
  const Node* is_nan = OnlyMaker(choice->inputs[0], "IsNaN");
  if (is_nan == nullptr || is_nan->inputs[0] != probabilities) return kNoValue;
  nan_is_zero_ = true;
  return probabilities;
}

Operand Match::Behind(ValueId value, IntList order, bool takes_scale) {
  while (true) {
    if (takes_scale) {
      const ValueId other = TakeScale(value);
      if (other != value) {
        value = other;
        continue;
      }
    }
    const Node* turn = rewriter_.Producer(value);
    if (turn == nullptr || turn->op != "Transpose") break;
    const auto* perm = turn->attributes.FindAs<IntList>("perm");
    if (perm == nullptr || perm->size() != order.size()) break;
    IntList before(order.size());
    for (size_t d = 0; d < order.size(); ++d) before[(*perm)[d]] = order[d];
    order = before;
    value = turn->inputs[0];
  }
  Dimensions shape = type(value).dimensions();
  if (order.size() == 3) {
    order.insert(order.begin() + 1, kHead);
    shape.insert(shape.begin() + 1, 1);
  }
  return {value, shape, order};
}

bool Match::Find() {
  if (node_.op != "MatMul") return false;
  const int rank = type(node_.outputs[0]).rank();
  if (rank != 3 && rank != 4) return false;
  const ValueId probabilities = ProbabilitiesBehind(node_.inputs[0]);
  const Node* softmax = probabilities == kNoValue ? nullptr : rewriter_.Producer(probabilities);
  if (softmax == nullptr || softmax->op != "Softmax") return false;
  const auto* axis = softmax->attributes.FindAs<int64_t>("axis");
  if (axis != nullptr && *axis != -1 && *axis != rank - 1) return false;
  ValueId scores = TakeMasks(rewriter_, softmax->inputs[0], mask_);
  if (scores == kNoValue) return false;
  while (rewriter_.Uses(scores) == 1) {
    const ValueId other = TakeScale(scores);
    if (other == scores) break;
    scores = other;
  }
  const Node* product = OnlyMaker(scores, "MatMul");
  if (product == nullptr) return false;
  scores_ = type(scores).dimensions();
  const ValueId factors[] = {product->inputs[0], product->inputs[1], node_.inputs[1]};
  for (const ValueId factor : factors) {
    if (type(factor).rank() != rank || type(factor).dtype() != DataType::kFloat32) return false;
  }
  const bool has_heads = rank == 4;
  operands_[kQueries] =
      Behind(factors[0], has_heads ? IntList{0, 1, 2, 3} : IntList{0, 2, 3}, true);
  operands_[kKeys] = Behind(factors[1], has_heads ? IntList{0, 1, 3, 2} : IntList{0, 3, 2}, true);
  operands_[kValues] =
      Behind(factors[2], has_heads ? IntList{0, 1, 2, 3} : IntList{0, 2, 3}, false);

  const auto extent = [this](BlockOperand operand, BlockAxis axis) {
    return operands_[operand].extent(axis);
  };
  const Dimension heads = extent(kQueries, kHead);
  const Dimension key_heads = extent(kKeys, kHead);
  const Dimension keys = extent(kKeys, kPosition);
  if (!heads.is_known() || !key_heads.is_known() || heads.extent() < 1 ||
      (key_heads != heads && key_heads != Dimension(1)) || keys == Dimension(0) ||
      keys.is_unknown() || extent(kQueries, kPosition).is_unknown() ||
      !extent(kKeys, kItem).is_known() || !extent(kValues, kItem).is_known()) {
    return false;
  }
  heads_ = heads.extent();
  key_heads_ = key_heads.extent();
  if (!SameExtent(extent(kValues, kHead), key_heads) ||
      !SameExtent(extent(kQueries, kBatch), extent(kKeys, kBatch)) ||
      !SameExtent(extent(kValues, kBatch), extent(kKeys, kBatch)) ||
      !SameExtent(extent(kValues, kPosition), keys)) {
    return false;
  }
  for (Operand& operand : operands_) TakeWhole(operand);
  return true;
}

// An output of a Split: what is split, along which dimension, and where the output begins there.
struct PartOf {
  ValueId whole = kNoValue;
  size_t axis = 0;
  int64_t begin = 0;
};
std::optional<PartOf> PartBehind(ValueId value, GraphRewriter& rewriter) {
  const Node* split = rewriter.Producer(value);
  if (split == nullptr || split->op != "Split") return std::nullopt;
  const auto* axis = split->attributes.FindAs<int64_t>("axis");
  const int rank = rewriter.type(value).rank();
  PartOf part = {split->inputs[0], 0, 0};
  if (axis != nullptr) part.axis = static_cast<size_t>(*axis < 0 ? *axis + rank : *axis);
  for (const ValueId output : split->outputs) {
    if (output == value) return part;
    if (output == kNoValue) return std::nullopt;
    const Dimension extent = rewriter.type(output).dimension(static_cast<int>(part.axis));
    if (!extent.is_known()) return std::nullopt;
    part.begin += extent.extent();
  }
  return std::nullopt;
}

void Match::TakeWhole(Operand& operand) {
  const Node* view = rewriter_.Producer(operand.value);
  if (view == nullptr || (view->op != "Reshape" && view->op != "slipway.View")) return;
  const std::optional<PartOf> part = PartBehind(view->inputs[0], rewriter_);
  if (!part.has_value()) return;
  const Dimensions seen = type(operand.value).dimensions();
  const Dimensions piece = type(view->inputs[0]).dimensions();
  Dimensions whole = type(part->whole).dimensions();
  if (seen.size() != 4 || seen != operand.shape) return;
  // Columns of a product: [batch, position, heads * items].
  if (whole.size() == 3 && part->axis == 2) {
    const Dimension items = seen[3];
    if (operand.order[2] != kHead || operand.order[3] != kItem || !items.is_known() ||
        !whole[2].is_known() || !SameExtent(seen[0], whole[0]) || !SameExtent(seen[1], whole[1]) ||
        part->begin % items.extent() != 0 || whole[2].extent() % items.extent() != 0) {
      return;
    }
    operand.value = part->whole;
    operand.shape = {whole[0], whole[1], whole[2].extent() / items.extent(), items};
    operand.first_head = part->begin / items.extent();
    return;
  }
  // One of several along a dimension that the view drops, perhaps behind a Transpose: it has to lie before the heads in memory.
  if (whole.size() != 5 || piece[part->axis] != Dimension(1)) return;
  Dimensions rest = piece;
  rest.erase(rest.begin() + static_cast<int64_t>(part->axis));
  if (!SameExtents(rest, seen)) return;
  IntList order = operand.order;
  constexpr int64_t kPart = 4;  // Beside the axes.
  order.insert(order.begin() + static_cast<int64_t>(part->axis), kPart);
  ValueId value = part->whole;
  const Node* turn = rewriter_.Producer(value);
  const auto* perm = turn == nullptr ? nullptr : turn->attributes.FindAs<IntList>("perm");
  if (turn != nullptr && turn->op == "Transpose" && perm != nullptr) {
    IntList before(order.size());
    for (size_t d = 0; d < order.size(); ++d) before[(*perm)[d]] = order[d];
    order = before;
    value = turn->inputs[0];
    whole = type(value).dimensions();
  }
  for (size_t d = 0; d + 1 < order.size(); ++d) {
    if (order[d] != kPart || order[d + 1] != kHead) continue;
    if (!whole[d].is_known() || !whole[d + 1].is_known()) return;
    operand.first_head = part->begin * whole[d + 1].extent();
    whole[d + 1] = whole[d].extent() * whole[d + 1].extent();
    whole.erase(whole.begin() + static_cast<int64_t>(d));
    order.erase(order.begin() + static_cast<int64_t>(d));
    operand.value = value;
    operand.shape = whole;
    operand.order = order;
    return;
  }
}

// The mask's own dimensions behind others of extent 1, and where scores have no heads, a head.
Dimensions Match::ShapeOfMask() const {
  Dimensions shape = type(mask_.value).dimensions();
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
    if (*mask_.past_keys != 0) attributes.Set("past_keys", *mask_.past_keys);
  }
  if (nan_is_zero_) attributes.Set("nan_is_zero", int64_t{1});
  return attributes;
}

absl::Status Match::CheckServed(const ServesAttention& serves,
                                const OperatorRegistry& registry) const {
  std::vector<ValueType> types;
  for (const Operand& operand : operands_) {
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
  for (const Operand& operand : operands_) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId input, Seen(operand.value, operand.shape));
    inputs.push_back(input);
  }
  if (mask_.value != kNoValue) {
    SLIPWAY_ASSIGN_OR_RETURN(ValueId mask, Seen(mask_.value, ShapeOfMask()));
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
