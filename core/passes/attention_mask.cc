#include "core/passes/attention_mask.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "core/passes/attention_operand.h"
#include "core/passes/causal_mask.h"

namespace slipway {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

constexpr absl::string_view kMakersOfScores[] = {"MatMul", "Mul", "Div"};
constexpr absl::string_view kMakersOfMasked[] = {"Add", "Where"};

class Masks {
 public:
  // Whether low numbers that hide keys by their place may be taken for minus infinity.
  Masks(GraphRewriter& rewriter, bool low_hides, TakenMask& mask)
      : rewriter_(rewriter), low_hides_(low_hides), mask_(mask) {}

  ValueId Take(ValueId scores) {
    while (true) {
      const ValueId before = TakeOne(scores);
      if (before == scores || before == kNoValue) return before;
      // What two low numbers hide together is lower than what each of them does.
      if (++taken_ > 1 && !hides_entirely_) return kNoValue;
      // What was done to scores before some of them were chosen is not done to what stands in their place.
      if (is_chosen_) return kNoValue;
      is_chosen_ = mask_.behind.has_value();
      scores = before;
    }
  }

 private:
  const ValueType& type(ValueId id) const { return rewriter_.type(id); }
  // Null where the maker is another operator, or its output is read elsewhere too.
  const Node* OnlyMaker(ValueId value, absl::string_view op) {
    const Node* maker = rewriter_.Producer(value);
    return maker != nullptr && maker->op == op && rewriter_.Uses(value) == 1 ? maker : nullptr;
  }
  const Node* Maker(ValueId value, absl::string_view op) {
    const Node* maker = rewriter_.Producer(value);
    return maker != nullptr && maker->op == op ? maker : nullptr;
  }
  std::optional<float> Number(ValueId value) const { return FindNumber(rewriter_, value); }
  bool AreLikeScores(ValueId value, ValueId scores) const {
    return SameExtents(type(value).dimensions(), type(scores).dimensions());
  }

  ValueId TakeOne(ValueId scores) {
    if (const Node* sum = OnlyMaker(scores, "Add")) {
      const std::pair<ValueId, ValueId> ways[] = {{sum->inputs[0], sum->inputs[1]},
                                                  {sum->inputs[1], sum->inputs[0]}};
      for (const absl::Span<const absl::string_view> makers :
           {absl::MakeConstSpan(kMakersOfScores), absl::MakeConstSpan(kMakersOfMasked)}) {
        for (const auto& [before, added] : ways) {
          const Node* maker = rewriter_.Producer(before);
          if (maker != nullptr && IsReshaping(*maker)) maker = rewriter_.Producer(maker->inputs[0]);
          if (maker == nullptr || !absl::c_linear_search(makers, maker->op) ||
              !AreLikeScores(before, scores)) {
            continue;
          }
          return AddNumbers(added, scores) ? BehindTriangle(before) : kNoValue;
        }
      }
      return kNoValue;
    }
    if (const Node* choice = OnlyMaker(scores, "Where")) {
      const ValueId conditions = choice->inputs[0];
      const ValueId sides[] = {choice->inputs[1], choice->inputs[2]};
      for (const int i : {0, 1}) {
        const std::optional<float> filling = Number(sides[1 - i]);
        if (!filling.has_value() || !AreLikeScores(sides[i], scores)) continue;
        return AddConditions(conditions, i == 1, *filling, scores) ? sides[i] : kNoValue;
      }
      return kNoValue;
    }
    return scores;
  }

  // What is multiplied by ones where a query sees keys, and by zeros where they are hidden anyway, as old exporters of GPT-2 write it; `scores` themselves where it is something else.
  ValueId BehindTriangle(ValueId scores) {
    const Node* product = mask_.past_keys.has_value() ? OnlyMaker(scores, "Mul") : nullptr;
    if (product == nullptr) return scores;
    for (const int i : {0, 1}) {
      const Tensor* ones = FullConstant(product->inputs[static_cast<size_t>(i)], scores);
      if (ones == nullptr || ones->dtype() != DataType::kFloat32) continue;
      const int64_t keys = ones->shape().back();
      const int64_t queries = ones->shape()[ones->shape().size() - 2];
      const absl::Span<const float> numbers = ones->values<float>();
      bool is_triangle = true;
      for (int64_t e = 0; e < ones->num_elements(); ++e) {
        const bool is_seen = e % keys <= e / keys % queries + *mask_.past_keys;
        const float number = numbers[static_cast<size_t>(e)];
        is_triangle = is_triangle && (number == 1 || (number == 0 && !is_seen));
      }
      if (is_triangle) return product->inputs[static_cast<size_t>(1 - i)];
    }
    return scores;
  }

  bool AddNumbers(ValueId added, ValueId scores) {
    if (const std::optional<CausalMask> causal = CausalityOf(added, scores)) {
      Hide(*causal);
      return causal->is_all || SetMask({.value = added}, scores);
    }
    // Numbers that are made of conditions in the graph, and of a constant besides.
    if (const Node* choice = Maker(added, "Where"); choice != nullptr &&
                                                    Number(choice->inputs[1]) == 0.0f &&
                                                    Number(choice->inputs[2]) == kMinusInfinity) {
      const Node* both = Maker(choice->inputs[0], "And");
      if (both != nullptr && TakeCausalPart(*both, scores)) return true;
    }
    if (const Node* sum = Maker(added, "Add"); sum != nullptr && TakeCausalPart(*sum, scores)) {
      return true;
    }
    return SetMask({.value = added}, scores);
  }

  bool AddConditions(ValueId conditions, bool is_inverted, float filling, ValueId scores) {
    const TakenMask whole = {.value = conditions, .is_inverted = is_inverted, .filling = filling};
    if (const std::optional<CausalMask> causal = CausalityOf(whole, scores)) {
      Hide(*causal);
      return causal->is_all || SetMask(whole, scores);
    }
    if (TakeChoice(whole, scores)) return true;
    if (const Node* both = Maker(conditions, "And");
        both != nullptr && !is_inverted && filling == kMinusInfinity) {
      if (TakeCausalPart(*both, scores)) return true;
    }
    return SetMask(whole, scores);
  }

  // A low number in place of scores of keys by their place, to which the mask that there is already adds.
  bool TakeChoice(const TakenMask& choice, ValueId scores) {
    if (mask_.value == kNoValue || !AddsNumbers(mask_.value) || mask_.past_keys.has_value()) {
      return false;
    }
    const Tensor* constant = FullConstant(choice.value, scores);
    if (constant == nullptr) return false;
    const std::optional<CausalMask> causal =
        FindCausalMask(*constant, !choice.is_inverted, choice.filling);
    if (!causal.has_value() || !causal->is_all || causal->is_infinite) return false;
    mask_.past_keys = causal->past_keys;
    mask_.behind = choice.filling;
    return true;
  }

  // Of a sum of masks, or conditions that hold together, of which one is a constant that is causal and hides entirely, the other one becomes the mask.
  bool TakeCausalPart(const Node& both, ValueId scores) {
    const bool are_conditions = both.op == "And";
    for (const int i : {0, 1}) {
      const auto part = [&](int input) -> TakenMask {
        return {.value = both.inputs[static_cast<size_t>(input)],
                .filling = are_conditions ? kMinusInfinity : 0};
      };
      const std::optional<CausalMask> causal =
          are_conditions ? CausalityOf(part(i), scores) : CausalityOf(part(i).value, scores);
      if (!causal.has_value() || !causal->is_infinite || !causal->is_all) continue;
      if (!SetMask(part(1 - i), scores)) return false;
      Hide(*causal);
      return true;
    }
    return false;
  }

  std::optional<CausalMask> CausalityOf(ValueId added, ValueId scores) const {
    const Tensor* constant = FullConstant(added, scores);
    return constant == nullptr ? std::nullopt : WhereItHides(FindCausalMask(*constant));
  }
  std::optional<CausalMask> CausalityOf(const TakenMask& mask, ValueId scores) const {
    const Tensor* constant = FullConstant(mask.value, scores);
    if (constant == nullptr) return std::nullopt;
    return WhereItHides(FindCausalMask(*constant, !mask.is_inverted, mask.filling));
  }
  std::optional<CausalMask> WhereItHides(std::optional<CausalMask> mask) const {
    return mask.has_value() && (low_hides_ || mask->is_infinite) ? mask : std::nullopt;
  }
  // A constant that has a row for each query, and no more dimensions than the scores; null where it is something else.
  const Tensor* FullConstant(ValueId value, ValueId scores) const {
    const Dimensions all = type(scores).dimensions();
    const Dimensions own = type(value).dimensions();
    if (own.size() < 2 || own.size() > all.size() || own.back() != all.back() ||
        own[own.size() - 2] != all[all.size() - 2]) {
      return nullptr;
    }
    return rewriter_.constant(value);
  }

  void Hide(const CausalMask& causal) {
    mask_.past_keys = std::min(causal.past_keys, mask_.past_keys.value_or(causal.past_keys));
    hides_entirely_ = hides_entirely_ && causal.is_infinite;
  }

  bool AddsNumbers(ValueId mask) const { return type(mask).dtype() == DataType::kFloat32; }

  bool SetMask(const TakenMask& mask, ValueId scores) {
    const bool is_first = mask_.value == kNoValue;
    if (!is_first &&
        (mask_.added != kNoValue || !AddsNumbers(mask_.value) || !AddsNumbers(mask.value))) {
      return false;
    }
    ValueId value = mask.value;
    // What it is repeated for it is repeated for by the attention, too.
    while (const Node* repeat = Maker(value, "Expand")) value = repeat->inputs[0];
    const Dimensions extents = type(value).dimensions();
    const Dimensions all = type(scores).dimensions();
    if (extents.size() > 4 || extents.size() > all.size()) return false;
    for (size_t d = 0; d < extents.size(); ++d) {
      const Dimension& there = all[all.size() - extents.size() + d];
      if (extents[d] != Dimension(1) && !SameExtent(extents[d], there)) return false;
    }
    if (!is_first) {
      mask_.added = value;
      return true;
    }
    mask_.value = value;
    mask_.is_inverted = mask.is_inverted;
    mask_.filling = mask.filling;
    return true;
  }

  GraphRewriter& rewriter_;
  const bool low_hides_;
  TakenMask& mask_;
  int taken_ = 0;
  bool is_chosen_ =
      false;  // Whether the last one put numbers in place of scores, to which the others add.
  bool hides_entirely_ = true;  // Whether what is hidden by its place is minus infinity.
};

}  // namespace

ValueId TakeMasks(GraphRewriter& rewriter, ValueId scores, TakenMask& mask) {
  const ValueId before = Masks(rewriter, /*low_hides=*/true, mask).Take(scores);
  if (before != kNoValue) return before;
  mask = {};
  return Masks(rewriter, /*low_hides=*/false, mask).Take(scores);
}

}  // namespace slipway
