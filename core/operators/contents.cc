#include "core/operators/contents.h"

#include <algorithm>
#include <optional>

#include "core/operators/checks.h"

namespace slipway {
namespace {

using Contents = std::optional<Dimensions>;

// The element of a tensor that belongs to element `i` of what it is broadcast to.
const Dimension& At(const Dimensions& elements, size_t i) {
  return elements.size() == 1 ? elements[0] : elements[i];
}

// Element by element over broadcast inputs; nothing is known where an input is too large to look at.
template <typename Function>
Dimensions ByElement(const NodeView& view, Function function) {
  std::vector<Dimensions> inputs;
  size_t count = 1;
  for (int i = 0; i < view.num_inputs(); ++i) {
    Contents contents = view.contents(i);
    if (!contents.has_value() || contents->size() > kMaxContents) return {};
    if (contents->size() != 1) count = contents->size();
    inputs.push_back(*std::move(contents));
  }
  for (const Dimensions& input : inputs) {
    if (input.size() != 1 && input.size() != count) return {};
  }
  Dimensions results;
  for (size_t e = 0; e < count; ++e) {
    Dimensions elements;
    for (const Dimensions& input : inputs) elements.push_back(At(input, e));
    results.push_back(function(elements));
  }
  return results;
}

// As C divides: towards 0, which is down where both are known not to be negative.
Dimension Quotient(const NodeView& view, const Dimension& a, const Dimension& b) {
  if (b == Dimension(0)) return Dimension();
  if (a.is_known() && b.is_known()) return a.extent() / b.extent();
  const bool positive = b.is_known() ? b.extent() > 0 : view.IsNeverNegative(b);
  return positive && view.IsNeverNegative(a) ? FloorDivide(a, b) : Dimension();
}

// What a float division makes of whole numbers where that is whole.
Dimension ExactQuotientOf(const Dimension& a, const Dimension& b) {
  if (a.is_unknown() || b.is_unknown() || b == Dimension(0)) return Dimension();
  const std::optional<Expression> exact = ExactQuotient(a.expression(), b.expression());
  return exact.has_value() ? Dimension(*exact) : Dimension();
}

Dimension Combine(const NodeView& view, const Dimension& a, const Dimension& b) {
  const std::string& op = view.op();
  if (op == "Add" || op == "ReduceSum" || op == "Sum") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul" || op == "ReduceProd") return a * b;
  if (op == "Div") return Quotient(view, a, b);
  if (op == "Min" || op == "ReduceMin") return Min(a, b);
  if (op == "Max" || op == "ReduceMax") return Max(a, b);
  return Dimension();
}

}  // namespace

Dimensions CastContents(const NodeView& view) {
  switch (view.Int("to")) {
    case static_cast<int64_t>(DataType::kFloat32):
    case static_cast<int64_t>(DataType::kFloat64):
    case static_cast<int64_t>(DataType::kInt32):
    case static_cast<int64_t>(DataType::kInt64):
      return SameContents(view);
    default:
      return {};
  }
}

Dimensions SameContents(const NodeView& view) { return view.contents(0).value_or(Dimensions()); }

Dimensions GatherContents(const NodeView& view) {
  const Contents from = view.contents(0);
  const Contents at = view.contents(1);
  if (!from.has_value() || !at.has_value() || view.input_type(0).rank() != 1) return {};
  Dimensions results;
  const auto count = static_cast<int64_t>(from->size());
  for (const Dimension& index : *at) {
    if (!index.is_known() || index.extent() < -count || index.extent() >= count) {
      results.emplace_back();
    } else {
      results.push_back((*from)[index.extent() < 0 ? index.extent() + count : index.extent()]);
    }
  }
  return results;
}

Dimensions ConcatContents(const NodeView& view) {
  Dimensions results;
  for (int i = 0; i < view.num_inputs(); ++i) {
    const Contents part = view.contents(i);
    if (!part.has_value() || view.input_type(i).rank() != 1) return {};
    results.insert(results.end(), part->begin(), part->end());
  }
  return results;
}

Dimensions ExpandContents(const NodeView& view) {
  const Contents from = view.contents(0);
  const Contents shape = view.contents(1);
  if (!from.has_value() || !shape.has_value() || shape->size() > 1) return {};
  if (shape->empty() || from->size() != 1) return *from;
  if (!shape->front().is_known() || shape->front().extent() > kMaxContents) return {};
  return Dimensions(static_cast<size_t>(std::max<int64_t>(shape->front().extent(), 1)),
                    from->front());
}

Dimensions RangeContents(const NodeView& view) {
  const Contents start = view.contents(0);
  const Contents limit = view.contents(1);
  const Contents delta = view.contents(2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 ||
      delta->size() != 1 || delta->front() == Dimension(0)) {
    return {};
  }
  const Dimension span = limit->front() - start->front();
  const Dimension count = CeilDivide(span, delta->front());
  if (!count.is_known() || count.extent() < 0 || count.extent() > kMaxContents) return {};
  Dimensions results;
  for (int64_t i = 0; i < count.extent(); ++i) {
    results.push_back(start->front() + delta->front() * i);
  }
  return results;
}

Dimensions ArithmeticContents(const NodeView& view) {
  const DataType dtype = view.input_type(0).dtype();
  const bool is_float = dtype == DataType::kFloat32 || dtype == DataType::kFloat64;
  return ByElement(view, [&](const Dimensions& elements) {
    if (is_float && view.op() == "Div") return ExactQuotientOf(elements[0], elements[1]);
    Dimension result = elements[0];
    for (size_t i = 1; i < elements.size(); ++i) {
      result = Combine(view, result, elements[i]);
    }
    return result;
  });
}

Dimensions EqualContents(const NodeView& view) {
  return ByElement(view, [&view](const Dimensions& elements) {
    const Dimension& a = elements[0];
    const Dimension& b = elements[1];
    if (SameExtent(a, b)) return Dimension(1);
    const auto apart = [&view](const Dimension& negative, const Dimension& other) {
      return negative.is_known() && negative.extent() < 0 && view.IsNeverNegative(other);
    };
    if (Contradict(a, b) || apart(a, b) || apart(b, a)) return Dimension(0);
    return Dimension();
  });
}

Dimensions WhereContents(const NodeView& view) {
  return ByElement(view, [](const Dimensions& elements) {
    if (SameExtent(elements[1], elements[2])) return elements[1];
    if (!elements[0].is_known()) return Dimension();
    return elements[0].extent() != 0 ? elements[1] : elements[2];
  });
}

Dimensions ReduceContents(const NodeView& view) {
  const Contents from = view.contents(0);
  if (!from.has_value() || from->empty() || view.input_type(0).rank() != 1) return {};
  // Of a list there is one axis to reduce, or none is.
  if (view.Int("noop_with_empty_axes") != 0) return {};
  Dimension result = from->front();
  for (size_t i = 1; i < from->size(); ++i) result = Combine(view, result, (*from)[i]);
  return {result};
}

}  // namespace slipway
