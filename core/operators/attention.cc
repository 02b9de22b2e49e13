#include "core/operators/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

constexpr DataType kSmallReals[] = {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16};

// A tensor of queries, keys or values, [batch, heads, sequence, size] or [batch, sequence, heads * size].
struct Heads {
  Dimension batch, heads, sequence, size;
};

absl::StatusOr<Heads> DecodeHeads(const NodeView& view, int input, int64_t packed_heads) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, input, 3, 4));
  const Dimensions x = DimensionsOf(view, input);
  if (x.size() == 4) return Heads{x[0], x[1], x[2], x[3]};
  if (!Divides(view, packed_heads, x[2])) {
    return view.Error(absl::StrCat("input ", input, " of shape ", ToString(x),
                                   " cannot be divided into ", packed_heads, " heads"));
  }
  return Heads{x[0], packed_heads, x[1], FloorDivide(x[2], packed_heads)};
}

absl::Status Misfit(const NodeView& view, int a, int b) {
  return view.Error(absl::StrCat("input ", b, " of shape ", ToString(DimensionsOf(view, b)),
                                 " does not fit input ", a, " of shape ",
                                 ToString(DimensionsOf(view, a))));
}

absl::Status RequireShape(const NodeView& view, int input, const Dimensions& wanted) {
  if (!view.has_input(input) || !view.Differ(DimensionsOf(view, input), wanted)) {
    return absl::OkStatus();
  }
  return view.Error(absl::StrCat("input ", input, " has the shape ",
                                 ToString(DimensionsOf(view, input)), " where ", ToString(wanted),
                                 " is needed"));
}

int64_t IntOr(const NodeView& view, absl::string_view attribute, int64_t otherwise) {
  return view.has(attribute) ? view.Int(attribute) : otherwise;
}

// The three operands of an Attention, checked against each other.
struct Shapes {
  Heads q, k, v;
  Dimension past = 0;
  Dimension total;  // Of keys, past ones included.
};

absl::StatusOr<Shapes> DecodeShapes(const NodeView& view) {
  Shapes shapes;
  const int64_t query_heads = IntOr(view, "q_num_heads", 0);
  const int64_t key_heads = IntOr(view, "kv_num_heads", 0);
  SLIPWAY_ASSIGN_OR_RETURN(shapes.q, DecodeHeads(view, 0, query_heads));
  SLIPWAY_ASSIGN_OR_RETURN(shapes.k, DecodeHeads(view, 1, key_heads));
  SLIPWAY_ASSIGN_OR_RETURN(shapes.v, DecodeHeads(view, 2, key_heads));
  const auto& [q, k, v, past, total] = shapes;
  if (view.Differ({q.batch, q.size}, {k.batch, k.size})) return Misfit(view, 0, 1);
  if (view.Differ({k.batch, k.heads, k.sequence}, {v.batch, v.heads, v.sequence})) {
    return Misfit(view, 1, 2);
  }
  if (!Divides(view, k.heads, q.heads) || (query_heads != 0 && view.Differ(q.heads, query_heads)) ||
      (key_heads != 0 && view.Differ(k.heads, key_heads))) {
    return view.Error(absl::StrCat(ToString(q.heads), " heads of queries and ", ToString(k.heads),
                                   " of keys do not fit"));
  }
  if (view.has_input(4) != view.has_input(5)) {
    return view.Error("past keys (input 4) and past values (input 5) go together");
  }
  if (view.has_input(4)) {
    SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 4, 4, 4));
    shapes.past = view.input_type(4).dimension(2);
    SLIPWAY_RETURN_IF_ERROR(RequireShape(view, 4, {k.batch, k.heads, shapes.past, k.size}));
    SLIPWAY_RETURN_IF_ERROR(RequireShape(view, 5, {k.batch, k.heads, shapes.past, v.size}));
    if (view.has_input(6)) {
      return view.Error("input 6 says what of the keys is padding: there is none with past keys");
    }
  }
  SLIPWAY_RETURN_IF_ERROR(RequireShape(view, 6, {q.batch}));
  shapes.total = shapes.past + k.sequence;
  return shapes;
}

absl::Status CheckAttentionTypes(const NodeView& view) {
  for (const int input : {0, 2}) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, input, TypeSet::kAnyFloat));
  }
  const auto same = [&view](int a, int b) {
    return !view.has_input(b) || view.input_type(a).dtype() == view.input_type(b).dtype();
  };
  if (!same(0, 1)) return Misfit(view, 0, 1);
  if (!same(0, 4)) return Misfit(view, 0, 4);
  if (!same(2, 5)) return Misfit(view, 2, 5);
  if (view.has_input(6)) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 6, {DataType::kInt64}));
  }
  if (view.has_input(3) && view.input_type(3).dtype() != DataType::kBool) {
    return CheckDtype(view, 3, TypeSet::kAnyNumeric);
  }
  return absl::OkStatus();
}

// A mask broadcasts to the scores; its last dimension may also be shorter.
absl::Status CheckMask(const NodeView& view, const Shapes& shapes) {
  if (!view.has_input(3)) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 3, 1, 4));
  Dimensions mask = DimensionsOf(view, 3);
  Dimensions scores = {shapes.q.batch, shapes.q.heads, shapes.q.sequence};
  const Dimension last = mask.back();
  mask.pop_back();
  const auto both = BroadcastInputs(view, mask, scores);
  if (both.ok() && !view.Differ(*both, scores) && !view.Exceeds(last, shapes.total)) {
    return absl::OkStatus();
  }
  scores.push_back(shapes.total);
  return view.Error(absl::StrCat("the mask (input 3) of shape ", ToString(DimensionsOf(view, 3)),
                                 " does not fit scores of shape ", ToString(scores)));
}

absl::StatusOr<std::vector<ValueType>> AttentionType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckAttentionTypes(view));
  SLIPWAY_ASSIGN_OR_RETURN(const Shapes shapes, DecodeShapes(view));
  SLIPWAY_RETURN_IF_ERROR(CheckMask(view, shapes));
  const auto& [q, k, v, past, total] = shapes;
  const DataType key_type = view.input_type(0).dtype();
  const DataType value_type = view.input_type(2).dtype();
  Dimensions y = {q.batch, q.heads, q.sequence, v.size};
  if (view.input_type(0).rank() == 3) y = {q.batch, q.sequence, q.heads * v.size};
  return std::vector<ValueType>{ValueType(key_type, y),
                                ValueType(key_type, {k.batch, k.heads, total, k.size}),
                                ValueType(value_type, {k.batch, k.heads, total, v.size}),
                                ValueType(key_type, {q.batch, q.heads, q.sequence, total})};
}

absl::StatusOr<std::vector<ValueType>> LinearAttentionType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const LinearAttentionView attention, DecodeLinearAttention(view));
  SLIPWAY_ASSIGN_OR_RETURN(const Heads k, DecodeHeads(view, 1, attention.key_heads));
  SLIPWAY_ASSIGN_OR_RETURN(const Heads v, DecodeHeads(view, 2, attention.key_heads));
  const DataType state = view.input_type(view.has_input(3) ? 3 : 0).dtype();
  return std::vector<ValueType>{
      ValueType(view.input_type(0).dtype(), {k.batch, k.sequence, v.size * attention.query_heads}),
      ValueType(state, {k.batch, attention.key_heads, k.size, v.size})};
}

constexpr const char* kOrders[] = {"query_order", "key_order", "value_order", "output_order"};

// The extents of an input of BlockAttention by BlockAxis.
Dimensions ExtentsByAxis(const NodeView& view, const BlockAttentionView& attention, int input) {
  Dimensions extents(4, 0);
  for (int d = 0; d < 4; ++d) {
    extents[attention.orders[input][d]] = view.input_type(input).dimension(d);
  }
  return extents;
}

absl::StatusOr<std::vector<ValueType>> BlockAttentionType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const BlockAttentionView attention, DecodeBlockAttention(view));
  for (int input = 0; input < 3; ++input) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, input, {DataType::kFloat32}));
    SLIPWAY_RETURN_IF_ERROR(CheckRank(view, input, 4, 4));
    const int64_t heads = input == kQueries ? attention.heads : attention.key_heads;
    const int64_t needed = attention.first_heads[input] + heads;
    const Dimension there = ExtentsByAxis(view, attention, input)[kHead];
    if (view.Exceeds(needed, there)) {
      return view.Error(absl::StrCat("input ", input, " has ", ToString(there), " heads where ",
                                     needed, " are needed"));
    }
  }
  const Dimensions q = ExtentsByAxis(view, attention, kQueries);
  const Dimensions k = ExtentsByAxis(view, attention, kKeys);
  const Dimensions v = ExtentsByAxis(view, attention, kValues);
  if (view.Differ({q[kBatch], q[kItem]}, {k[kBatch], k[kItem]})) return Misfit(view, 0, 1);
  if (view.Differ({k[kBatch], k[kPosition]}, {v[kBatch], v[kPosition]})) return Misfit(view, 1, 2);
  if (view.has_input(3)) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 3, {DataType::kFloat32, DataType::kBool}));
    SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 3, 4, 4));
    const Dimensions scores = {q[kBatch], attention.heads, q[kPosition], k[kPosition]};
    for (int d = 0; d < 4; ++d) {
      const Dimension extent = view.input_type(3).dimension(d);
      if (extent != Dimension(1) && view.Differ(extent, scores[d])) {
        return view.Error(absl::StrCat("the mask (input 3) of shape ",
                                       ToString(DimensionsOf(view, 3)),
                                       " does not fit scores of shape ", ToString(scores)));
      }
    }
  }
  const Dimensions y = {q[kBatch], attention.heads, q[kPosition], v[kItem]};
  Dimensions ordered;
  for (const int64_t axis : attention.orders[kMixed]) ordered.push_back(y[axis]);
  return std::vector<ValueType>{ValueType(DataType::kFloat32, ordered)};
}

absl::StatusOr<std::vector<ValueType>> RotaryType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeRotary(view).status());
  return std::vector<ValueType>{view.input_type(0)};
}

}  // namespace

absl::StatusOr<AttentionView> DecodeAttention(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const Shapes shapes, DecodeShapes(view));
  if (!shapes.q.heads.is_known() || !shapes.k.heads.is_known() || !shapes.q.size.is_known()) {
    return view.Unimplemented("heads whose number and size are not known are not supported");
  }
  AttentionView attention;
  attention.query_heads = shapes.q.heads.extent();
  attention.key_heads = shapes.k.heads.extent();
  attention.causal = view.Int("is_causal") != 0;
  attention.left_window = view.Int("left_window_size");
  attention.right_window = view.Int("right_window_size");
  if (attention.left_window < -1 || attention.right_window < -1) {
    return view.Error(absl::StrCat("a window of ", attention.left_window, " and ",
                                   attention.right_window, " positions"));
  }
  const auto size = static_cast<double>(shapes.q.size.extent());
  attention.scale = view.has("scale") ? view.Float("scale") : 1 / std::sqrt(size);
  attention.softcap = view.Float("softcap");
  if (view.has("softmax_precision")) {
    const auto dtype = DataTypeFromNumber(view.Int("softmax_precision"));
    if (!dtype.ok()) return view.Annotated(dtype.status());
    attention.softmax_type = *dtype;
  }
  const int64_t scores = view.Int("qk_matmul_output_mode");
  if (scores < 0 || scores > 3) {
    return view.Error(absl::StrCat("\"qk_matmul_output_mode\" is ", scores, ", not 0 to 3"));
  }
  attention.scores = static_cast<AttentionScores>(scores);
  return attention;
}

absl::StatusOr<BlockAttentionView> DecodeBlockAttention(const NodeView& view) {
  BlockAttentionView attention;
  attention.heads = view.Int("heads");
  attention.key_heads = view.Int("key_heads");
  if (attention.key_heads < 1 || attention.heads < 1 ||
      attention.heads % attention.key_heads != 0) {
    return view.Error(absl::StrCat(attention.heads, " heads of queries and ", attention.key_heads,
                                   " of keys do not fit"));
  }
  for (int operand = 0; operand < 4; ++operand) {
    attention.orders[operand] = view.Ints(kOrders[operand]);
    std::vector<int64_t> sorted = attention.orders[operand];
    std::sort(sorted.begin(), sorted.end());
    if (sorted != std::vector<int64_t>{kBatch, kHead, kPosition, kItem}) {
      return view.Error(absl::StrCat("\"", kOrders[operand], "\" is no order of 0 to 3"));
    }
  }
  attention.first_heads = view.Ints("first_heads");
  if (attention.first_heads.size() != 3 ||
      *std::min_element(attention.first_heads.begin(), attention.first_heads.end()) < 0) {
    return view.Error("\"first_heads\" is not three numbers from 0 on");
  }
  attention.scale = view.Float("scale");
  attention.filling = view.Float("filling");
  attention.nan_is_zero = view.Int("nan_is_zero") != 0;
  if (view.Int("is_causal") != 0) {
    const int64_t past = view.Int("past_keys");
    if (past < -kMostPastKeys || past > kMostPastKeys) {
      return view.Error(absl::StrCat("\"past_keys\" is ", past, ", beyond ", kMostPastKeys));
    }
    attention.past_keys = past;
    const double behind = view.Float("behind");
    if (std::isnan(behind) || behind == std::numeric_limits<double>::infinity()) {
      return view.Error(absl::StrCat("\"behind\" is ", behind));
    }
    if (std::isfinite(behind)) attention.behind = behind;
  }
  return attention;
}

absl::StatusOr<LinearAttentionView> DecodeLinearAttention(const NodeView& view) {
  for (const int input : {0, 1, 2, 3, 4, 5}) {
    if (!view.has_input(input)) continue;
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, input, kSmallReals));
    const int rank = input == 3 ? 4 : 3;
    SLIPWAY_RETURN_IF_ERROR(CheckRank(view, input, rank, rank));
    if (input != 3 && view.input_type(input).dtype() != view.input_type(0).dtype()) {
      return Misfit(view, 0, input);
    }
  }
  LinearAttentionView attention;
  attention.query_heads = view.Int("q_num_heads");
  attention.key_heads = view.Int("kv_num_heads");
  if (attention.key_heads < 1 || attention.query_heads < 1 ||
      attention.query_heads % attention.key_heads != 0) {
    return view.Error(absl::StrCat(attention.query_heads, " heads of queries and ",
                                   attention.key_heads, " of keys do not fit"));
  }
  const std::string& rule = view.String("update_rule");
  attention.gated = rule == "gated" || rule == "gated_delta";
  attention.delta = rule == "delta" || rule == "gated_delta";
  if (!attention.gated && !attention.delta && rule != "linear") {
    return view.Error(
        absl::StrCat("\"update_rule\" is \"", rule, "\", not linear, gated, delta or gated_delta"));
  }
  if (attention.gated != view.has_input(4) || attention.delta != view.has_input(5)) {
    return view.Error(absl::StrCat("the rule \"", rule, "\" takes ", attention.gated ? "a" : "no",
                                   " decay (input 4) and ", attention.delta ? "an" : "no",
                                   " update rate (input 5)"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Heads q, DecodeHeads(view, 0, attention.query_heads));
  SLIPWAY_ASSIGN_OR_RETURN(const Heads k, DecodeHeads(view, 1, attention.key_heads));
  SLIPWAY_ASSIGN_OR_RETURN(const Heads v, DecodeHeads(view, 2, attention.key_heads));
  if (view.Differ({q.batch, q.sequence, q.size}, {k.batch, k.sequence, k.size})) {
    return Misfit(view, 0, 1);
  }
  if (view.Differ({k.batch, k.sequence}, {v.batch, v.sequence})) return Misfit(view, 1, 2);
  SLIPWAY_RETURN_IF_ERROR(RequireShape(view, 3, {k.batch, attention.key_heads, k.size, v.size}));
  // A decay for each head or for each element of a key; a rate for each head or for all.
  const Dimensions each = {k.batch, k.sequence, attention.key_heads};
  if (view.has_input(4) && view.Differ(DimensionsOf(view, 4), each)) {
    SLIPWAY_RETURN_IF_ERROR(
        RequireShape(view, 4, {k.batch, k.sequence, k.size * attention.key_heads}));
  }
  if (view.has_input(5) && view.Differ(DimensionsOf(view, 5), each)) {
    SLIPWAY_RETURN_IF_ERROR(RequireShape(view, 5, {k.batch, k.sequence, 1}));
  }
  attention.scale = view.Float("scale");
  if (attention.scale == 0 && k.size.is_known()) {
    attention.scale = 1 / std::sqrt(static_cast<double>(k.size.extent()));
  }
  return attention;
}

absl::StatusOr<RotaryView> DecodeRotary(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  for (const int input : {1, 2}) {
    if (view.input_type(input).dtype() != view.input_type(0).dtype()) {
      return Misfit(view, 0, input);
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Heads x, DecodeHeads(view, 0, IntOr(view, "num_heads", 0)));
  RotaryView rotary;
  rotary.interleaved = view.Int("interleaved") != 0;
  rotary.heads = x.heads.is_known() ? x.heads.extent() : 0;
  rotary.rotated = view.Int("rotary_embedding_dim");
  const Dimension rotated = rotary.rotated == 0 ? x.size : Dimension(rotary.rotated);
  if (rotary.rotated < 0 || !Divides(view, 2, rotated) || view.Exceeds(rotated, x.size)) {
    return view.Error(absl::StrCat(ToString(rotated), " of ", ToString(x.size),
                                   " elements cannot be rotated in pairs"));
  }
  const Dimension half = FloorDivide(rotated, 2);
  const bool by_position = view.has_input(3);
  if (by_position) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 3, {DataType::kInt64}));
    SLIPWAY_RETURN_IF_ERROR(RequireShape(view, 3, {x.batch, x.sequence}));
    SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 2, 2));
  }
  for (const int cache : {1, 2}) {
    SLIPWAY_RETURN_IF_ERROR(RequireShape(view, cache,
                                         by_position
                                             ? Dimensions{view.input_type(1).dimension(0), half}
                                             : Dimensions{x.batch, x.sequence, half}));
  }
  return rotary;
}

absl::Status RegisterAttentionOperators(OperatorRegistry& registry) {
  OperatorSchema attention;
  attention.name = "Attention";
  attention.min_inputs = 3;
  attention.max_inputs = 7;
  attention.max_outputs = 4;
  attention.type_rule = AttentionType;
  attention.attributes = {IntAttribute("is_causal", 0),
                          IntAttribute("kv_num_heads", std::nullopt),
                          IntAttribute("left_window_size", -1),
                          IntAttribute("q_num_heads", std::nullopt),
                          IntAttribute("qk_matmul_output_mode", 0),
                          IntAttribute("right_window_size", -1),
                          FloatAttribute("scale", std::nullopt),
                          FloatAttribute("softcap", 0),
                          IntAttribute("softmax_precision", std::nullopt)};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(attention));

  OperatorSchema block;
  block.name = "slipway.BlockAttention";
  block.min_inputs = 3;
  block.max_inputs = 4;
  block.type_rule = BlockAttentionType;
  block.attributes = {FloatAttribute("behind", -std::numeric_limits<float>::infinity()),
                      FloatAttribute("filling", 0),
                      Required(IntsAttribute("first_heads")),
                      Required(IntAttribute("heads", std::nullopt)),
                      IntAttribute("is_causal", 0),
                      Required(IntAttribute("key_heads", std::nullopt)),
                      IntAttribute("nan_is_zero", 0),
                      IntAttribute("past_keys", 0),
                      FloatAttribute("scale", 1)};
  for (const char* order : kOrders) block.attributes.push_back(Required(IntsAttribute(order)));
  SLIPWAY_RETURN_IF_ERROR(registry.Add(block));

  OperatorSchema linear;
  linear.name = "LinearAttention";
  linear.min_inputs = 3;
  linear.max_inputs = 6;
  linear.max_outputs = 2;
  linear.type_rule = LinearAttentionType;
  linear.attributes = {IntAttribute("chunk_size", 64),
                       Required(IntAttribute("kv_num_heads", std::nullopt)),
                       Required(IntAttribute("q_num_heads", std::nullopt)),
                       FloatAttribute("scale", 0), StringAttribute("update_rule", "gated_delta")};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(linear));

  OperatorSchema rotary;
  rotary.name = "RotaryEmbedding";
  rotary.min_inputs = 3;
  rotary.max_inputs = 4;
  rotary.type_rule = RotaryType;
  rotary.attributes = {IntAttribute("interleaved", 0), IntAttribute("num_heads", std::nullopt),
                       IntAttribute("rotary_embedding_dim", 0)};
  return registry.Add(rotary);
}

}  // namespace slipway
