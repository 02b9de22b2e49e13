#include "core/passes/attention_operand.h"

#include <utility>

#include "absl/algorithm/container.h"

namespace slipway {
namespace {

using IntList = std::vector<int64_t>;

bool IsRepeating(const Node& node) { return node.op == "Expand" || node.op == "Tile"; }

// Whether elements are 0, 0, ..., 1, 1, ..., each as often, `parts` of them.
bool RepeatsEach(const Tensor& indices, int64_t parts) {
  if (indices.dtype() != DataType::kInt64 || indices.shape().size() != 1 || parts < 1 ||
      indices.num_elements() % parts != 0) {
    return false;
  }
  const int64_t shared = indices.num_elements() / parts;
  const absl::Span<const int64_t> numbers = indices.values<int64_t>();
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    if (numbers[static_cast<size_t>(i)] != i / shared) return false;
  }
  return true;
}

// A tensor, and the four dimensions that it is seen in.
struct Seen {
  ValueId value;
  Dimensions shape;
};

// What is behind heads, dimension `head` of four, that are each repeated for several of queries.
std::optional<Seen> BehindRepeats(GraphRewriter& rewriter, ValueId value, size_t head) {
  const Node* const maker = rewriter.Producer(value);
  if (maker == nullptr) return std::nullopt;
  const auto dimensions = [&rewriter](ValueId id) { return rewriter.type(id).dimensions(); };
  const Dimensions all = dimensions(value);
  if (maker->op == "Gather") {
    const Dimensions before = dimensions(maker->inputs[0]);
    const Tensor* const indices = rewriter.constant(maker->inputs[1]);
    const auto* axis = maker->attributes.FindAs<int64_t>("axis");
    const int64_t along = axis == nullptr ? 0 : *axis < 0 ? *axis + 4 : *axis;
    if (before.size() != 4 || along != static_cast<int64_t>(head) || !before[head].is_known() ||
        indices == nullptr || !RepeatsEach(*indices, before[head].extent())) {
      return std::nullopt;
    }
    return Seen{maker->inputs[0], before};
  }
  // One head for all of them.
  if (IsRepeating(*maker)) {
    const Dimensions before = dimensions(maker->inputs[0]);
    Dimensions repeated = before;
    if (before.size() != 4 || before[head] != Dimension(1)) return std::nullopt;
    repeated[head] = all[head];
    if (!SameExtents(repeated, all)) return std::nullopt;
    return Seen{maker->inputs[0], before};
  }
  if (!IsReshaping(*maker)) return std::nullopt;
  const Node* const repeat = rewriter.Producer(maker->inputs[0]);
  if (repeat == nullptr || !IsRepeating(*repeat)) return std::nullopt;
  const Dimensions five = dimensions(maker->inputs[0]);
  const Dimensions before = dimensions(repeat->inputs[0]);
  if (five.size() != 5 || before.size() != 5 || before[head + 1] != Dimension(1)) {
    return std::nullopt;
  }
  Dimensions repeated = before;
  repeated[head + 1] = five[head + 1];
  const auto place = static_cast<std::ptrdiff_t>(head);
  Dimensions joined = five;
  joined[head] = five[head] * five[head + 1];
  joined.erase(joined.begin() + place + 1);
  if (!SameExtents(repeated, five) || !SameExtents(joined, all)) return std::nullopt;
  Dimensions shape = before;
  shape.erase(shape.begin() + place + 1);
  const Node* const view = rewriter.Producer(repeat->inputs[0]);
  if (view != nullptr && IsReshaping(*view) && SameExtents(dimensions(view->inputs[0]), shape)) {
    return Seen{view->inputs[0], shape};
  }
  return Seen{repeat->inputs[0], shape};
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

}  // namespace

std::optional<float> FindNumber(const GraphRewriter& rewriter, ValueId value) {
  const Tensor* constant = rewriter.constant(value);
  if (constant == nullptr || constant->dtype() != DataType::kFloat32 ||
      constant->num_elements() != 1) {
    return std::nullopt;
  }
  return constant->values<float>()[0];
}

bool IsReshaping(const Node& node) { return node.op == "Reshape" || node.op == "slipway.View"; }

ValueId TakeFactor(GraphRewriter& rewriter, ValueId value, double& scale) {
  const Node* maker = rewriter.Producer(value);
  if (maker == nullptr || (maker->op != "Mul" && maker->op != "Div")) return value;
  for (const int i : {0, 1}) {
    const std::optional<float> number = FindNumber(rewriter, maker->inputs[1 - i]);
    const ValueId other = maker->inputs[i];
    if (!number.has_value() || rewriter.type(other).rank() != rewriter.type(value).rank()) continue;
    if (maker->op == "Div" && i == 1) continue;
    scale = maker->op == "Mul" ? scale * *number : scale / *number;
    return other;
  }
  return value;
}

AttentionOperand FindOperand(GraphRewriter& rewriter, ValueId value, IntList order, double* scale,
                             bool takes_repeats) {
  while (true) {
    if (scale != nullptr) {
      const ValueId other = TakeFactor(rewriter, value, *scale);
      if (other != value) {
        value = other;
        continue;
      }
    }
    if (takes_repeats && order.size() == 4) {
      const auto head = static_cast<size_t>(absl::c_find(order, kHead) - order.begin());
      const std::optional<Seen> before = BehindRepeats(rewriter, value, head);
      if (before.has_value()) {
        value = before->value;
        if (rewriter.type(value).rank() != 4) return {value, before->shape, order};
        continue;
      }
    }
    const Node* turn = rewriter.Producer(value);
    if (turn == nullptr || turn->op != "Transpose") break;
    const auto* perm = turn->attributes.FindAs<IntList>("perm");
    if (perm == nullptr || perm->size() != order.size()) break;
    IntList before(order.size());
    for (size_t d = 0; d < order.size(); ++d) before[(*perm)[d]] = order[d];
    order = before;
    value = turn->inputs[0];
  }
  Dimensions shape = rewriter.type(value).dimensions();
  if (order.size() == 3) {
    order.insert(order.begin() + 1, kHead);
    shape.insert(shape.begin() + 1, 1);
  }
  return {value, shape, order};
}

void TakeWhole(GraphRewriter& rewriter, AttentionOperand& operand) {
  const Node* view = rewriter.Producer(operand.value);
  if (view == nullptr || !IsReshaping(*view)) return;
  const std::optional<PartOf> part = PartBehind(view->inputs[0], rewriter);
  if (!part.has_value()) return;
  const Dimensions seen = rewriter.type(operand.value).dimensions();
  const Dimensions piece = rewriter.type(view->inputs[0]).dimensions();
  Dimensions whole = rewriter.type(part->whole).dimensions();
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
  const Node* turn = rewriter.Producer(value);
  const auto* perm = turn == nullptr ? nullptr : turn->attributes.FindAs<IntList>("perm");
  if (turn != nullptr && turn->op == "Transpose" && perm != nullptr) {
    IntList before(order.size());
    for (size_t d = 0; d < order.size(); ++d) before[(*perm)[d]] = order[d];
    order = before;
    value = turn->inputs[0];
    whole = rewriter.type(value).dimensions();
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

}  // namespace slipway
