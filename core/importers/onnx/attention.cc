// Attention as ONNX Runtime's operators have it, by way of ONNX's; and that of ai.onnx.preview, whose steps bodies change.
//
// Letters of shapes: batch b, queries' positions s, keys' positions t, heads n.
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/importers/onnx/composition.h"

namespace slipway {
namespace {

constexpr char kDomain[] = "com.microsoft.";
constexpr auto kInt64 = static_cast<int64_t>(DataType::kInt64);
constexpr auto kFloat32 = static_cast<int64_t>(DataType::kFloat32);

// One extent of a shape: i64[1].
ValueId Extent(Composition& node, ValueId x, int64_t dimension) {
  return node.Make("Shape", {x}, {{"start", dimension}, {"end", dimension + 1}});
}

// 0, 1, ..., up to a count: i64[1].
ValueId Positions(Composition& node, ValueId count) {
  return node.Make("Range", {node.Int(0), node.Make("Squeeze", {count}), node.Int(1)});
}

std::vector<ValueId> Split(Composition& node, ValueId x, int64_t axis, int parts,
                           const std::vector<int64_t>& sizes = {}) {
  std::vector<ValueId> made;
  for (int i = 0; i < parts; ++i) made.push_back(node.NewValue("part"));
  if (sizes.empty()) {
    node.MakeAll(made, "Split", {x}, {{"axis", axis}, {"num_outputs", int64_t{parts}}});
  } else {
    node.MakeAll(made, "Split", {x, node.Ints(sizes)}, {{"axis", axis}});
  }
  return made;
}

bool IsSet(const Composition& node, const char* attribute) {
  return node.has(attribute) && node.Int(attribute) != 0;
}

// What is added to the scores for a mask of numbers, where 0 masks out: [b, t], [b, s, t], or, [b], how many keys there are.
ValueId BiasOfMask(Composition& node, ValueId mask, ValueId batched, ValueId key_count,
                   ValueId like) {
  ValueId seen = kNoValue;
  const int rank = node.RankOf(mask);
  if (rank == 2 || rank == 3) {
    const ValueId axes =
        node.Ints(rank == 2 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1});
    seen = node.Make("Cast", {node.Make("Unsqueeze", {mask, axes})},
                     {{"to", static_cast<int64_t>(DataType::kBool)}});
  } else if (rank == 1 && node.RankOf(batched) > 0 &&
             node.type(mask)->dimension(0) == node.type(batched)->dimension(0)) {
    const ValueId counts = node.Make(
        "Reshape", {node.Make("Cast", {mask}, {{"to", kInt64}}), node.Ints({-1, 1, 1, 1})});
    seen = node.Make("Less", {Positions(node, key_count), counts});
  } else {
    node.Unsupported("a mask that is neither [batch], [batch, keys] nor [batch, queries, keys]");
  }
  return node.Make("Where", {seen, node.FloatLike(0, like),
                             node.FloatLike(node.Float("mask_filter_value"), like)});
}

// Makes the outputs `y`, and of keys and values `present`, from queries, keys and values.
struct Operands {
  ValueId q, k, v;
  ValueId mask = kNoValue;  // As BiasOfMask takes it.
  ValueId bias = kNoValue;
  ValueId past_k = kNoValue;
  ValueId past_v = kNoValue;
};
void Attend(Composition& node, const Operands& given, std::vector<ValueId> outputs) {
  ValueId bias = given.bias;
  if (given.mask != kNoValue) {
    ValueId count = Extent(node, given.k, node.RankOf(given.k) == 4 ? 2 : 1);
    if (given.past_k != kNoValue) {
      count = node.Make("Add", {count, Extent(node, given.past_k, 2)});
    }
    const ValueId masked = BiasOfMask(node, given.mask, given.q, count, given.q);
    bias = bias == kNoValue ? masked : node.Make("Add", {bias, masked});
  }
  const int64_t heads = node.Int("num_heads");
  Attributes attributes = {
      {"q_num_heads", heads}, {"kv_num_heads", heads}, {"is_causal", node.Int("unidirectional")}};
  if (node.Float("scale") != 0) attributes.Set("scale", node.Float("scale"));
  node.MakeAll(std::move(outputs), "Attention",
               {given.q, given.k, given.v, bias, given.past_k, given.past_v}, attributes);
}

// Queries, keys and values that lie in one tensor [b, s, n, parts, size], each as [b, s, n * size].
std::vector<ValueId> Unpack(Composition& node, ValueId packed, int parts) {
  std::vector<ValueId> unpacked;
  for (const ValueId part : Split(node, packed, 3, parts)) {
    unpacked.push_back(node.Make("Reshape", {part, node.Ints({0, 0, -1})}));
  }
  return unpacked;
}

// A bias for queries, keys and values in one list.
void AddBias(Composition& node, ValueId bias, Operands& given) {
  std::vector<int64_t> sizes;
  for (const ValueId x : {given.q, given.k, given.v}) {
    const bool known = node.RankOf(x) == 3 && node.type(x)->dimension(2).is_known();
    if (!known) return node.Unsupported("a bias for inputs that are not [batch, length, SIZE]");
    sizes.push_back(node.type(x)->dimension(2).extent());
  }
  const std::vector<ValueId> parts = Split(node, bias, 0, 3, sizes);
  given.q = node.Make("Add", {given.q, parts[0]});
  given.k = node.Make("Add", {given.k, parts[1]});
  given.v = node.Make("Add", {given.v, parts[2]});
}

void MultiHeadAttention(Composition& node) {
  if (node.has_input(8) || node.has_input(9) || node.has_output(3)) {
    return node.Unsupported("a shared cache (inputs 8 and 9) or the scores (output 3)");
  }
  Operands given = {node.input(0), node.input(1), node.input(2)};
  if (node.RankOf(given.q) == 5) {
    const std::vector<ValueId> parts = Unpack(node, given.q, 3);
    given.q = parts[0];
    given.k = parts[1];
    given.v = parts[2];
  } else if (given.k != kNoValue && node.RankOf(given.k) == 5) {
    const std::vector<ValueId> parts = Unpack(node, given.k, 2);
    given.k = parts[0];
    given.v = parts[1];
  }
  if (given.k == kNoValue || given.v == kNoValue) {
    return node.Unsupported("queries without keys and values");
  }
  if (node.has_input(3)) AddBias(node, node.input(3), given);
  given.mask = node.input(4);
  given.bias = node.input(5);
  given.past_k = node.input(6);
  given.past_v = node.input(7);
  Attend(node, given, {node.Output(0), node.Output(1), node.Output(2)});
}

// Attention whose queries, keys and values are made from one input. `past` is [2, b, n, t, size], as is output 1.
void SelfAttention(Composition& node, ValueId projected, ValueId mask, ValueId past, ValueId bias) {
  if (IsSet(node, "do_rotary") || IsSet(node, "past_present_share_buffer")) {
    return node.Unsupported("\"do_rotary\" or \"past_present_share_buffer\"");
  }
  const auto sizes =
      node.has("qkv_hidden_sizes") ? node.Ints("qkv_hidden_sizes") : std::vector<int64_t>();
  const std::vector<ValueId> parts = Split(node, projected, 2, 3, sizes);
  Operands given = {parts[0], parts[1], parts[2], mask, bias};
  if (past != kNoValue) {
    const std::vector<ValueId> pasts = Split(node, past, 0, 2);
    given.past_k = node.Make("Squeeze", {pasts[0], node.Ints({0})});
    given.past_v = node.Make("Squeeze", {pasts[1], node.Ints({0})});
  }
  if (!node.has_output(1)) return Attend(node, given, {node.Output(0)});
  const ValueId keys = node.NewValue("keys");
  const ValueId values = node.NewValue("values");
  Attend(node, given, {node.Output(0), keys, values});
  const ValueId first = node.Ints({0});
  node.MakeOutput(1, "Concat",
                  {node.Make("Unsqueeze", {keys, first}), node.Make("Unsqueeze", {values, first})},
                  {{"axis", int64_t{0}}});
}

void Attention(Composition& node) {
  if (node.has_input(6)) return node.Unsupported("a shared cache (input 6)");
  ValueId projected = node.Make("MatMul", {node.input(0), node.input(1)});
  if (node.has_input(2)) projected = node.Make("Add", {projected, node.input(2)});
  SelfAttention(node, projected, node.input(3), node.input(4), node.input(5));
}

// Attention with a projection of quantized numbers.
void QAttention(Composition& node) {
  const ValueId sums =
      node.Make("MatMulInteger", {node.input(0), node.input(1), node.input(6), node.input(7)});
  const ValueId scale = node.Make("Mul", {node.input(3), node.input(4)});
  const ValueId real = node.Make("Mul", {node.Make("Cast", {sums}, {{"to", kFloat32}}), scale});
  SelfAttention(node, node.Make("Add", {real, node.input(2)}), node.input(5), node.input(8),
                kNoValue);
}

// Inputs: x, positions [b, s] or the first of them [1], cosines, sines.
void RotaryEmbedding(Composition& node) {
  if (IsSet(node, "is_packed_batching") || node.Float("scale") != 1) {
    return node.Unsupported("\"is_packed_batching\" or a \"scale\"");
  }
  const ValueId x = node.input(0);
  const int rank = node.RankOf(x);
  if (rank < 0) return node.Unsupported("an input whose rank is not known");
  ValueId positions = node.input(1);
  if (node.RankOf(positions) == 1) {
    const ValueId length = Extent(node, x, rank == 4 ? 2 : 1);
    const ValueId shape = node.Make("Concat", {Extent(node, x, 0), length}, {{"axis", int64_t{0}}});
    positions =
        node.Make("Expand", {node.Make("Add", {Positions(node, length), positions}), shape});
  }
  Attributes attributes = node.Only({"interleaved", "rotary_embedding_dim"});
  int64_t heads = node.Int("num_heads");
  if (heads == 0 && rank == 3) {
    const ValueType* cosines = node.type(node.input(2));
    const Dimension width = node.type(x)->dimension(2);
    const bool known = cosines != nullptr && cosines->rank() == 2 && width.is_known() &&
                       cosines->dimension(1).is_known() && cosines->dimension(1).extent() > 0;
    if (!known) return node.Unsupported("a number of heads that is not known");
    heads = width.extent() / (2 * cosines->dimension(1).extent());
  }
  if (rank == 3) attributes.Set("num_heads", heads);
  node.MakeOutput(0, "RotaryEmbedding", {x, node.input(2), node.input(3), positions}, attributes);
}

// Of a GroupQueryAttention.
enum Input { kQuery, kKey, kValue, kPastKey, kPastValue, kLengths, kTotal, kCosines, kSines };
constexpr int kPositionIds = 9;
constexpr int kBias = 10;

ValueId Rotate(Composition& node, ValueId x, int64_t heads, ValueId positions) {
  const ValueType* cosines = node.type(node.input(kCosines));
  const bool known = cosines != nullptr && cosines->rank() == 2 && cosines->dimension(1).is_known();
  return node.Make(
      "RotaryEmbedding", {x, node.input(kCosines), node.input(kSines), positions},
      {{"interleaved", node.Int("rotary_interleaved")},
       {"num_heads", heads},
       {"rotary_embedding_dim", known ? 2 * cosines->dimension(1).extent() : int64_t{0}}});
}

// Output `output`: the past keys or values with the new ones, [b, s, n * size], from `first` [b] on. Where a sequence has
// fewer past ones than the tensor holds, the new ones stand behind its own.
ValueId Remember(Composition& node, int output, ValueId past, ValueId x, ValueId first) {
  const ValueId split = node.Make("Reshape", {x, node.Ints({0, 0, node.Int("kv_num_heads"), -1})});
  const std::vector<int64_t> order = {0, 2, 1, 3};
  if (past == kNoValue) return node.MakeOutput(output, "Transpose", {split}, {{"perm", order}});
  const ValueId fresh = node.Make("Transpose", {split}, {{"perm", order}});
  const ValueId room = node.Make("Concat", {past, fresh}, {{"axis", int64_t{2}}});
  return node.MakeOutput(output, "TensorScatter", {room, fresh, first}, {{"axis", int64_t{2}}});
}

void GroupQueryAttention(Composition& node) {
  if (!node.RequireInputs({kLengths})) return;
  for (int i = kBias + 1; i < node.num_inputs(); ++i) {
    if (node.has_input(i)) return node.Unsupported(absl::StrCat("input ", i));
  }
  if (node.has_output(3) || node.String("k_quant_type") != "NONE" ||
      node.String("v_quant_type") != "NONE" || node.Int("smooth_softmax") > 0 ||
      IsSet(node, "sliding_window_cache")) {
    return node.Unsupported(
        "a quantized or sliding cache, a smooth softmax or the scores (output 3)");
  }
  const int64_t heads = node.Int("num_heads");
  const int64_t key_heads = node.Int("kv_num_heads");
  ValueId q = node.input(kQuery);
  ValueId k = node.input(kKey);
  ValueId v = node.input(kValue);
  if (k == kNoValue) {
    const ValueType* packed = node.type(q);
    if (packed == nullptr || packed->rank() != 3 || !packed->dimension(2).is_known() || heads < 1 ||
        key_heads < 1 || heads > kMaxNodeArity || key_heads > kMaxNodeArity) {
      return node.Unsupported("packed inputs of unknown size");
    }
    const int64_t size = packed->dimension(2).extent() / (heads + 2 * key_heads);
    const std::vector<ValueId> parts =
        Split(node, q, 2, 3, {heads * size, key_heads * size, key_heads * size});
    q = parts[0];
    k = parts[1];
    v = parts[2];
  }
  // Where each sequence's queries begin, and the position of each query.
  const ValueId length = Extent(node, q, 1);
  const ValueId last = node.Make("Cast", {node.input(kLengths)}, {{"to", kInt64}});
  const ValueId total =
      node.Make("Add", {node.Make("Reshape", {last, node.Ints({-1})}), node.Ints({1})});
  const ValueId first = node.Make("Max", {node.Make("Sub", {total, length}), node.Ints({0})});
  const ValueId positions =
      node.Make("Add", {node.Make("Unsqueeze", {first, node.Ints({1})}), Positions(node, length)});
  if (IsSet(node, "do_rotary")) {
    const ValueId turned = node.has_input(kPositionIds) ? node.input(kPositionIds) : positions;
    q = Rotate(node, q, heads, turned);
    k = Rotate(node, k, key_heads, turned);
  }
  k = Remember(node, 1, node.input(kPastKey), k, first);
  v = Remember(node, 2, node.input(kPastValue), v, first);

  // Which keys each query sees, [b, 1, s, t].
  const ValueId keys = Positions(node, Extent(node, k, 2));
  const ValueId own = node.Make("Unsqueeze", {positions, node.Ints({1, 3})});
  ValueId seen =
      node.Int("causal") != 0
          ? node.Make("LessOrEqual", {keys, own})
          : node.Make("Less", {keys, node.Make("Reshape", {total, node.Ints({-1, 1, 1, 1})})});
  const int64_t window = node.Int("local_window_size");
  if (window > 0) {
    const ValueId begin = node.Make("Sub", {own, node.Int(window)});
    seen = node.Make("And", {seen, node.Make("Greater", {keys, begin})});
  }
  if (node.has_input(kBias)) {
    const ValueId hidden =
        node.FloatLike(-std::numeric_limits<float>::infinity(), node.input(kBias));
    seen = node.Make("Where", {seen, node.input(kBias), hidden});
  }
  Attributes attributes = {{"q_num_heads", heads}, {"softcap", node.Float("softcap")}};
  if (node.Float("scale") != 0) attributes.Set("scale", node.Float("scale"));
  node.MakeOutput(0, "Attention", {q, k, v, seen}, attributes);
}

// Each head of keys or values, as often as queries need it.
ValueId RepeatHeads(Composition& node, ValueId x, int64_t query_heads) {
  const int64_t heads = node.type(x)->dimension(1).extent();
  if (heads == query_heads) return x;
  std::vector<int64_t> places;
  for (int64_t h = 0; h < query_heads; ++h) places.push_back(h / (query_heads / heads));
  return node.Make("Gather", {x, node.Ints(places)}, {{"axis", int64_t{1}}});
}

void FlexAttention(Composition& node) {
  if (node.has(kCapturesAttribute)) return node.Unsupported("a body that reads what is around it");
  for (int i = 0; i < 3; ++i) {
    const bool known =
        node.RankOf(node.input(i)) == 4 && node.type(node.input(i))->dimension(1).is_known();
    if (!known) return node.Unsupported("an input that is not [batch, HEADS, length, size]");
  }
  const ValueId q = node.input(0);
  const int64_t query_heads = node.type(q)->dimension(1).extent();
  for (const int i : {1, 2}) {
    const int64_t heads = node.type(node.input(i))->dimension(1).extent();
    if (query_heads > kMaxNodeArity || heads < 1 || query_heads % heads != 0) {
      return node.Fail(absl::StrCat(query_heads, " heads of queries and ", heads, " of input ", i,
                                    " do not fit"));
    }
  }
  const Dimension size = node.type(q)->dimension(3);
  if (!node.has("scale") && !size.is_known()) return node.Unsupported("a scale by an unknown size");
  const double scale =
      node.has("scale") ? node.Float("scale") : 1 / std::sqrt(static_cast<double>(size.extent()));
  const bool is_double = node.IsOfType(q, DataType::kFloat64);
  const int64_t precision =
      node.has("softmax_precision")
          ? node.Int("softmax_precision")
          : static_cast<int64_t>(is_double ? DataType::kFloat64 : DataType::kFloat32);
  const ValueId k = node.Make("Transpose", {RepeatHeads(node, node.input(1), query_heads)},
                              {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  const ValueId products = node.Make("Cast", {node.Make("MatMul", {q, k})}, {{"to", precision}});
  const ValueId factor =
      node.Make("Cast", {node.Constant(Tensor::Scalar<double>(scale))}, {{"to", precision}});
  ValueId scores = node.Make("Mul", {products, factor});
  if (node.has("score_mod")) scores = node.Inline(node.Body("score_mod"), scores);
  scores = node.Make("Softmax", {scores}, {{"axis", int64_t{-1}}});
  if (node.has("prob_mod")) scores = node.Inline(node.Body("prob_mod"), scores);
  const ValueId v = RepeatHeads(node, node.input(2), query_heads);
  node.MakeOutput(0, "MatMul", {node.Make("CastLike", {scores, v}), v});
}

}  // namespace

absl::Status AddAttentionExpansions(Expansions& expansions) {
  const auto row = [](const char* op, Arity inputs, void (*expand)(Composition&),
                      std::vector<AttributeSchema> attributes, int max_outputs) {
    return ExpansionOf(absl::StrCat(kDomain, op), inputs, expand, std::move(attributes),
                       max_outputs);
  };
  const AttributeSchema heads = Required(IntAttribute("num_heads", std::nullopt));
  const AttributeSchema scale = FloatAttribute("scale", 0);
  const AttributeSchema filter = FloatAttribute("mask_filter_value", -10000);
  const AttributeSchema causal = IntAttribute("unidirectional", 0);
  return AddAll(
      expansions,
      {row("Attention", {2, 7}, Attention,
           {IntAttribute("do_rotary", 0), filter, heads,
            IntAttribute("past_present_share_buffer", 0), IntsAttribute("qkv_hidden_sizes"),
            IntAttribute("rotary_embedding_dim", 0), scale, causal},
           2),
       ExpansionOf("ai.onnx.preview.FlexAttention", {3, kVariadic}, FlexAttention,
                   {IntAttribute(kCapturesAttribute, std::nullopt),
                    AttributeSchema{"prob_mod", AttributeKind::kGraph},
                    FloatAttribute("scale", std::nullopt),
                    AttributeSchema{"score_mod", AttributeKind::kGraph},
                    IntAttribute("softmax_precision", std::nullopt)}),
       row("GroupQueryAttention", {1, 16}, GroupQueryAttention,
           {IntAttribute("causal", 1), IntAttribute("do_rotary", 0),
            StringAttribute("k_quant_type", "NONE"), IntAttribute("kv_cache_bit_width", 0),
            Required(IntAttribute("kv_num_heads", std::nullopt)),
            IntAttribute("local_window_size", -1), heads, FloatAttribute("qk_norm_epsilon", 1e-6f),
            IntAttribute("qk_output", 0), IntAttribute("rotary_interleaved", 0), scale,
            IntAttribute("sliding_window_cache", 0), IntAttribute("smooth_softmax", -1),
            FloatAttribute("softcap", 0), StringAttribute("v_quant_type", "NONE")},
           4),
       row("MultiHeadAttention", {1, 10}, MultiHeadAttention, {filter, heads, scale, causal}, 4),
       row("QAttention", {5, 9}, QAttention,
           {IntAttribute("do_rotary", 0), filter, heads,
            IntAttribute("past_present_share_buffer", 0), scale, causal},
           2),
       row("RotaryEmbedding", 4, RotaryEmbedding,
           {IntAttribute("interleaved", 0), IntAttribute("is_packed_batching", 0),
            IntAttribute("num_heads", 0), IntAttribute("rotary_embedding_dim", 0),
            FloatAttribute("scale", 1)},
           1)});
}

}  // namespace slipway
