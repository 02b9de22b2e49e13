// Attention as products and a Softmax.
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/attention.h"
#include "core/passes/canonicalize_rules.h"
#include "core/passes/expand_rules.h"
#include "core/passes/limits.h"

namespace slipway {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

bool IsFloat(DataType dtype) { return dtype == DataType::kFloat32; }

bool HasElements(const ValueType& type) {
  const Dimension elements = NumElements(type.dimensions());
  return !elements.is_unknown() && elements != Dimension(0);
}

// Which keys queries see.
struct Sight {
  ValueId bias = kNoValue;   // What is added to scores; kNoValue where all queries see all keys.
  ValueId blind = kNoValue;  // Queries that see none; kNoValue where there is none.
};
// By the mask's value (kNoValue without one) and, where it is causal, how many queries, keys and past keys there are.
using Sights = absl::flat_hash_map<std::tuple<ValueId, int64_t, int64_t, int64_t>, Sight>;

// Queries, keys and values as [batch, heads, sequence, size] while a node is expanded.
class Expansion {
 public:
  Expansion(const Node& node, const AttentionView& attention, GraphRewriter& rewriter,
            Sights& sights)
      : node_(node),
        attention_(attention),
        rewriter_(rewriter),
        sights_(sights),
        name_(DisplayName(rewriter.graph(), node)) {}

  absl::StatusOr<bool> Run();

 private:
  bool has(size_t input) const {
    return input < node_.inputs.size() && node_.inputs[input] != kNoValue;
  }
  ValueId output(size_t i) const { return i < node_.outputs.size() ? node_.outputs[i] : kNoValue; }
  std::string Named(absl::string_view part) const { return absl::StrCat(name_, "_", part); }
  Dimensions Shape4(ValueId id) const { return rewriter_.type(id).dimensions(); }
  Dimension Total() const;
  bool IsServed() const;

  absl::StatusOr<ValueId> SplitHeads(ValueId x, int64_t heads, absl::string_view part);
  absl::StatusOr<ValueId> WithPast(size_t past, ValueId x, absl::string_view part);
  Dimension Queries() const;
  Dimension Past() const;
  absl::StatusOr<ValueId> MaskBias();
  ValueId CausalBias();
  absl::StatusOr<ValueId> Blind(ValueId bias);
  absl::StatusOr<Sight> MakeSight();
  absl::StatusOr<Sight> FindSight();
  ValueId Scalar(absl::string_view part, float value) {
    return rewriter_.Constant(Named(part), Tensor::Of<float>({}, {value}));
  }

  const Node& node_;
  const AttentionView& attention_;
  GraphRewriter& rewriter_;
  Sights& sights_;
  const std::string name_;
};

Dimension Expansion::Queries() const {
  const ValueType& q = rewriter_.type(node_.inputs[0]);
  return q.dimension(q.rank() == 4 ? 2 : 1);
}

Dimension Expansion::Past() const {
  return has(4) ? rewriter_.type(node_.inputs[4]).dimension(2) : Dimension(0);
}

// Of keys, past ones included.
Dimension Expansion::Total() const {
  const ValueType& k = rewriter_.type(node_.inputs[1]);
  return Past() + k.dimension(k.rank() == 4 ? 2 : 1);
}

bool Expansion::IsServed() const {
  for (const size_t input : {0, 1, 2, 4, 5}) {
    if (!has(input)) continue;
    const ValueType& type = rewriter_.type(node_.inputs[input]);
    if (!IsFloat(type.dtype()) || (input < 3 && !HasElements(type))) return false;
  }
  if (has(6) || output(3) != kNoValue || output(0) == kNoValue || attention_.softcap != 0 ||
      attention_.left_window >= 0 || attention_.right_window >= 0) {
    return false;
  }
  if (attention_.softmax_type != DataType::kInvalid && !IsFloat(attention_.softmax_type)) {
    return false;
  }
  const Dimension total = Total();
  if (total.is_unknown()) return false;
  if (has(3)) {
    const ValueType& mask = rewriter_.type(node_.inputs[3]);
    // What a short mask does not reach is not seen.
    if (!SameExtent(mask.dimension(mask.rank() - 1), total)) return false;
    if (!IsFloat(mask.dtype()) && mask.dtype() != DataType::kBool) return false;
  }
  if (!attention_.causal) return true;
  const Dimension entries = Queries() * total;
  return entries.is_known() && Past().is_known() && entries.extent() <= kMaxWrittenMaskElements;
}

absl::StatusOr<ValueId> Expansion::SplitHeads(ValueId x, int64_t heads, absl::string_view part) {
  const Dimensions packed = Shape4(x);
  if (packed.size() == 4) return x;
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId split,
      AddReshape(rewriter_, x, {packed[0], packed[1], heads, FloorDivide(packed[2], heads)},
                 Named(absl::StrCat(part, "_heads"))));
  return rewriter_.Add("Transpose", {split}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}},
                       Named(part));
}

absl::StatusOr<ValueId> Expansion::WithPast(size_t past, ValueId x, absl::string_view part) {
  if (!has(past)) return x;
  return rewriter_.Add("Concat", {node_.inputs[past], x}, {{"axis", int64_t{2}}}, Named(part));
}

// The mask as what is added to scores.
absl::StatusOr<ValueId> Expansion::MaskBias() {
  const ValueId mask = node_.inputs[3];
  if (IsFloat(rewriter_.type(mask).dtype())) return mask;
  return rewriter_.Add("Where", {mask, Scalar("seen", 0), Scalar("unseen", kMinusInfinity)}, {},
                       Named("mask"));
}

ValueId Expansion::CausalBias() {
  const int64_t queries = Queries().extent();
  const int64_t keys = Total().extent();
  std::vector<float> bias(static_cast<size_t>(queries * keys), 0);
  for (int64_t i = 0; i < queries; ++i) {
    for (int64_t j = Past().extent() + i + 1; j < keys; ++j) {
      bias[static_cast<size_t>(i * keys + j)] = kMinusInfinity;
    }
  }
  return rewriter_.Constant(Named("causal"), Tensor::Of<float>({queries, keys}, bias));
}

absl::StatusOr<ValueId> Expansion::Blind(ValueId bias) {
  const int64_t last = rewriter_.type(bias).rank() - 1;
  const ValueId axes = ShapeConstant(rewriter_, Named("keys"), {last});
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId most,
      rewriter_.Add("ReduceMax", {bias, axes}, {{"keepdims", int64_t{1}}}, Named("most")));
  return rewriter_.Add("Equal", {most, Scalar("nothing", kMinusInfinity)}, {}, Named("blind"));
}

absl::StatusOr<Sight> Expansion::MakeSight() {
  Sight sight;
  if (attention_.causal) sight.bias = CausalBias();  // Everything sees at least itself.
  if (!has(3)) return sight;
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId mask, MaskBias());
  if (sight.bias == kNoValue) {
    sight.bias = mask;
  } else {
    SLIPWAY_ASSIGN_OR_RETURN(sight.bias,
                             rewriter_.Add("Add", {mask, sight.bias}, {}, Named("bias")));
  }
  SLIPWAY_ASSIGN_OR_RETURN(sight.blind, Blind(sight.bias));
  return sight;
}

absl::StatusOr<Sight> Expansion::FindSight() {
  const auto of_causal = [this](const Dimension& extent) {
    return attention_.causal ? extent.extent() : -1;
  };
  const auto key = std::make_tuple(has(3) ? node_.inputs[3] : kNoValue, of_causal(Queries()),
                                   of_causal(Total()), of_causal(Past()));
  const auto found = sights_.find(key);
  if (found != sights_.end()) return found->second;
  SLIPWAY_ASSIGN_OR_RETURN(const Sight sight, MakeSight());
  sights_[key] = sight;
  return sight;
}

absl::StatusOr<bool> Expansion::Run() {
  if (!IsServed()) return false;
  const ValueType result = rewriter_.type(node_.outputs[0]);
  SLIPWAY_ASSIGN_OR_RETURN(ValueId q, SplitHeads(node_.inputs[0], attention_.query_heads, "query"));
  SLIPWAY_ASSIGN_OR_RETURN(ValueId k, SplitHeads(node_.inputs[1], attention_.key_heads, "key"));
  SLIPWAY_ASSIGN_OR_RETURN(ValueId v, SplitHeads(node_.inputs[2], attention_.key_heads, "value"));
  SLIPWAY_ASSIGN_OR_RETURN(k, WithPast(4, k, "present_key"));
  SLIPWAY_ASSIGN_OR_RETURN(v, WithPast(5, v, "present_value"));
  const Dimensions queries = Shape4(q);
  const Dimension total = Shape4(k)[2];

  SLIPWAY_ASSIGN_OR_RETURN(
      q, rewriter_.Add("Mul", {q, Scalar("scale", static_cast<float>(attention_.scale))}, {},
                       Named("scaled")));
  const int64_t shared = attention_.query_heads / attention_.key_heads;
  const auto by_key_heads = [&](ValueId x, absl::string_view part) -> absl::StatusOr<ValueId> {
    if (shared == 1) return x;
    const Dimensions shape = Shape4(x);
    return AddReshape(rewriter_, x, {shape[0], attention_.key_heads, shape[2] * shared, shape[3]},
                      Named(part));
  };
  const auto by_query_heads = [&](ValueId x, absl::string_view part) -> absl::StatusOr<ValueId> {
    if (shared == 1) return x;
    return AddReshape(rewriter_, x, {queries[0], queries[1], queries[2], Shape4(x)[3]},
                      Named(part));
  };
  SLIPWAY_ASSIGN_OR_RETURN(q, by_key_heads(q, "grouped"));
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId turned,
      rewriter_.Add("Transpose", {k}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}},
                    Named("turned")));
  SLIPWAY_ASSIGN_OR_RETURN(ValueId scores,
                           rewriter_.Add("MatMul", {q, turned}, {}, Named("scores")));
  SLIPWAY_ASSIGN_OR_RETURN(const Sight sight, FindSight());
  if (sight.bias != kNoValue) {
    SLIPWAY_ASSIGN_OR_RETURN(scores, by_query_heads(scores, "scores_by_head"));
    SLIPWAY_ASSIGN_OR_RETURN(scores,
                             rewriter_.Add("Add", {scores, sight.bias}, {}, Named("biased")));
  }
  SLIPWAY_ASSIGN_OR_RETURN(
      ValueId seen, rewriter_.Add("Softmax", {scores}, {{"axis", int64_t{3}}}, Named("seen")));
  if (sight.bias != kNoValue) {
    SLIPWAY_ASSIGN_OR_RETURN(seen, by_key_heads(seen, "seen_by_group"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(ValueId y, rewriter_.Add("MatMul", {seen, v}, {}, Named("mixed")));
  SLIPWAY_ASSIGN_OR_RETURN(y, by_query_heads(y, "mixed_by_head"));
  if (sight.blind != kNoValue) {
    SLIPWAY_ASSIGN_OR_RETURN(
        y, rewriter_.Add("Where", {sight.blind, Scalar("zero", 0), y}, {}, Named("sighted")));
  }
  if (result.rank() == 3) {
    SLIPWAY_ASSIGN_OR_RETURN(
        y, rewriter_.Add("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}},
                         Named("joined")));
    SLIPWAY_ASSIGN_OR_RETURN(y, AddReshape(rewriter_, y, result.dimensions(), name_));
  }
  if (output(1) != kNoValue) rewriter_.ReplaceOutput(output(1), k);
  if (output(2) != kNoValue) rewriter_.ReplaceOutput(output(2), v);
  rewriter_.Replace(node_, y);
  return true;
}

absl::StatusOr<bool> ExpandAttention(const Node& node, GraphRewriter& rewriter,
                                     const OperatorRegistry& registry, Sights& sights) {
  AttentionView attention;
  {
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                             NodeView::Create(rewriter.graph(), node, registry));
    absl::StatusOr<AttentionView> decoded = DecodeAttention(view);
    if (absl::IsUnimplemented(decoded.status())) return false;
    SLIPWAY_ASSIGN_OR_RETURN(attention, std::move(decoded));
  }
  return Expansion(node, attention, rewriter, sights).Run();
}

}  // namespace

ExpandRule AttentionRule() {
  return [sights = Sights()](const Node& node, GraphRewriter& rewriter,
                             const OperatorRegistry& registry) mutable {
    return ExpandAttention(node, rewriter, registry, sights);
  };
}

}  // namespace slipway
