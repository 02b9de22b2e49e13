#include "tests/gpu/attention_graphs.h"

#include <cstdint>
#include <limits>
#include <string>

#include "core/passes/testing/pass_tester.h"

namespace slipway::testing {
namespace {

// Most lengths are no multiples of a tile.
constexpr AttentionGraph kGraphs[] = {
    {"plain",
     R"(graph "g" (%q: f32[1, 2, 64, 64], %k: f32[1, 2, 128, 64], %v: f32[1, 2, 128, 64]) -> (%y) {
  const %scale: f32[] = {0.125}
  %s = Mul(%q, %scale)
  %t = Transpose(%k) {perm = [0, 1, 3, 2]}
  %p = MatMul(%s, %t)
  %w = Softmax(%p) {axis = -1}
  %y = MatMul(%w, %v)
})"},
    {"odd",
     R"(graph "g" (%q: f32[2, 3, 37, 32], %k: f32[2, 3, 53, 32], %v: f32[2, 3, 53, 48]) -> (%y) {
  const %scale: f32[] = {0.2}
  %t = Transpose(%k) {perm = [0, 1, 3, 2]}
  %p = MatMul(%q, %t)
  %s = Mul(%p, %scale)
  %w = Softmax(%s) {axis = -1}
  %y = MatMul(%w, %v)
})"},
    {"one_query",
     R"(graph "g" (%q: f32[1, 3, 1, 64], %k: f32[1, 3, 40, 64], %v: f32[1, 3, 40, 64]) -> (%y) {
  const %scale: f32[] = {8}
  %t = Transpose(%k) {perm = [0, 1, 3, 2]}
  %p = MatMul(%q, %t)
  %s = Div(%p, %scale)
  %w = Softmax(%s) {axis = -1}
  %y = MatMul(%w, %v)
})"},
    {"one_key",
     R"(graph "g" (%q: f32[1, 2, 20, 16], %k: f32[1, 2, 1, 16], %v: f32[1, 2, 1, 16]) -> (%y) {
  %t = Transpose(%k) {perm = [0, 1, 3, 2]}
  %p = MatMul(%q, %t)
  %w = Softmax(%p) {axis = -1}
  %y = MatMul(%w, %v)
})"},
    // Each of several lies [batch, position, head, item], and so does the result.
    {"turned",
     R"(graph "g" (%q: f32[2, 70, 3, 32], %k: f32[2, 41, 3, 32], %v: f32[2, 41, 3, 32], %padding: f32[2, 1, 1, 41]) -> (%y) {
  const %scale: f32[] = {0.18}
  const %shape: i64[3] = {2, 70, 96}
  %a = Transpose(%q) {perm = [0, 2, 1, 3]}
  %b = Transpose(%k) {perm = [0, 2, 3, 1]}
  %c = Transpose(%v) {perm = [0, 2, 1, 3]}
  %p = MatMul(%a, %b)
  %s = Mul(%p, %scale)
  %m = Add(%s, %padding)
  %w = Softmax(%m) {axis = -1}
  %x = MatMul(%w, %c)
  %z = Transpose(%x) {perm = [0, 2, 1, 3]}
  %y = Reshape(%z, %shape)
})"},
    // Keys lie item by item, and the result, too.
    {"columns",
     R"(graph "g" (%q: f32[1, 2, 24, 16], %k: f32[1, 2, 16, 35], %v: f32[1, 2, 35, 16]) -> (%y) {
  const %scale: f32[] = {0.25}
  %s = Mul(%q, %scale)
  %p = MatMul(%s, %k)
  %w = Softmax(%p) {axis = -1}
  %x = MatMul(%w, %v)
  %y = Transpose(%x) {perm = [0, 1, 3, 2]}
})"},
    {"split", R"(graph "g" (%x: f32[2, 33, 192]) -> (%y) {
  const %sizes: i64[3] = {64, 64, 64}
  const %heads: i64[4] = {2, 33, 2, 32}
  const %scale: f32[] = {0.177}
  %a, %b, %c = Split(%x, %sizes) {axis = 2}
  %q = Reshape(%a, %heads)
  %k = Reshape(%b, %heads)
  %v = Reshape(%c, %heads)
  %qt = Transpose(%q) {perm = [0, 2, 1, 3]}
  %kt = Transpose(%k) {perm = [0, 2, 3, 1]}
  %vt = Transpose(%v) {perm = [0, 2, 1, 3]}
  %s = MatMul(%qt, %kt)
  %m = Mul(%s, %scale)
  %p = Softmax(%m) {axis = 3}
  %y = MatMul(%p, %vt)
})"},
    {"heads_as_a_batch",
     R"(graph "g" (%q: f32[6, 18, 16], %k: f32[6, 29, 16], %v: f32[6, 29, 32], %m: f32[6, 18, 29]) -> (%y) {
  const %scale: f32[] = {0.25}
  %t = Transpose(%k) {perm = [0, 2, 1]}
  %p = MatMul(%q, %t)
  %s = Mul(%p, %scale)
  %a = Add(%m, %s)
  %w = Softmax(%a) {axis = 2}
  %y = MatMul(%w, %v)
})"},
    {"one_head_of_keys",
     R"(graph "g" (%q: f32[2, 3, 20, 32], %k: f32[2, 1, 32, 50], %v: f32[2, 1, 50, 32]) -> (%y) {
  const %scale: f32[] = {0.177}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %w = Softmax(%s) {axis = 3}
  %y = MatMul(%w, %v)
})"},
    {"grouped_heads",
     R"(graph "g" (%q: f32[2, 6, 20, 32], %k: f32[2, 2, 50, 32], %v: f32[2, 2, 50, 32]) -> (%y) {
  %y = Attention(%q, %k, %v)
})"},
    {"grouped_heads_padded",
     R"(graph "g" (%q: f32[2, 6, 20, 32], %k: f32[2, 2, 50, 32], %v: f32[2, 2, 50, 32], %padding: bool[2, 1, 1, 50]) -> (%y) {
  %y = Attention(%q, %k, %v, %padding)
})"},
    {"grouped_heads_causal",
     R"(graph "g" (%q: f32[2, 40, 96], %k: f32[2, 40, 32], %v: f32[2, 40, 32]) -> (%y) {
  %y = Attention(%q, %k, %v) {is_causal = 1, q_num_heads = 6, kv_num_heads = 2}
})",
     true},
    // As exporters repeat keys for the heads of queries.
    {"repeated_heads",
     R"(graph "g" (%q: f32[1, 20, 6, 32], %k: f32[1, 50, 2, 32], %v: f32[1, 50, 2, 32], %padding: f32[1, 1, 1, 50]) -> (%y) {
  const %scale: f32[] = {0.177}
  const %axis: i64[1] = {2}
  const %repeated: i64[5] = {1, 2, 3, 50, 32}
  const %joined: i64[4] = {1, 6, 50, 32}
  %a = Transpose(%q) {perm = [0, 2, 1, 3]}
  %b = Transpose(%k) {perm = [0, 2, 1, 3]}
  %c = Transpose(%v) {perm = [0, 2, 1, 3]}
  %k1 = Unsqueeze(%b, %axis)
  %k2 = Expand(%k1, %repeated)
  %k3 = Reshape(%k2, %joined)
  %v1 = Unsqueeze(%c, %axis)
  %v2 = Expand(%v1, %repeated)
  %v3 = Reshape(%v2, %joined)
  %t = Transpose(%k3) {perm = [0, 1, 3, 2]}
  %p = MatMul(%a, %t)
  %s = Mul(%p, %scale)
  %m = Add(%s, %padding)
  %w = Softmax(%m) {axis = -1}
  %x = MatMul(%w, %v3)
  %y = Transpose(%x) {perm = [0, 2, 1, 3]}
})"},
    {"causal_operator",
     R"(graph "g" (%q: f32[1, 2, 70, 64], %k: f32[1, 2, 70, 64], %v: f32[1, 2, 70, 64]) -> (%y) {
  %y = Attention(%q, %k, %v) {is_causal = 1}
})",
     true},
    // Masks as exporters write them, which folding makes constants: numbers above a diagonal, a choice below one, comparisons of positions.
    {"causal_triangle",
     R"(graph "g" (%q: f32[2, 2, 90, 32], %k: f32[2, 2, 32, 90], %v: f32[2, 2, 90, 32]) -> (%y) {
  const %scale: f32[] = {0.177}
  const %low: f32[90, 90] = splat -inf
  const %one: i64[] = {1}
  %causal = Trilu(%low, %one) {upper = 1}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Add(%s, %causal)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})",
     true},
    {"causal_behind_past_keys",
     R"(graph "g" (%q: f32[1, 2, 40, 16], %k: f32[1, 2, 16, 73], %v: f32[1, 2, 73, 16]) -> (%y) {
  const %scale: f32[] = {0.25}
  const %low: f32[] = {-3.4028235e38}
  const %ones: bool[1, 1, 40, 73] = splat true
  const %past: i64[] = {33}
  %seen = Trilu(%ones, %past) {upper = 0}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Where(%seen, %s, %low)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})",
     true},
    {"causal_by_positions",
     R"(graph "g" (%q: f32[1, 2, 50, 16], %k: f32[1, 2, 16, 50], %v: f32[1, 2, 50, 16]) -> (%y) {
  const %scale: f32[] = {0.25}
  const %first: i64[] = {0}
  const %end: i64[] = {50}
  const %step: i64[] = {1}
  const %column: i64[2] = {50, 1}
  const %low: f32[] = {-1e30}
  %keys = Range(%first, %end, %step)
  %queries = Reshape(%keys, %column)
  %behind = Greater(%keys, %queries)
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Where(%behind, %low, %s)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})",
     true},
    // A few keys behind the last query's own, and a tile that goes beyond the last key.
    {"causal_of_few_hidden",
     R"(graph "g" (%q: f32[1, 2, 40, 16], %k: f32[1, 2, 16, 50], %v: f32[1, 2, 50, 16]) -> (%y) {
  const %scale: f32[] = {0.25}
  const %low: f32[40, 50] = splat -inf
  const %past: i64[] = {21}
  %causal = Trilu(%low, %past) {upper = 1}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Add(%s, %causal)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})",
     true},
    // The first 70 queries see nothing: whole groups of them do not.
    {"causal_blind",
     R"(graph "g" (%q: f32[1, 2, 100, 16], %k: f32[1, 2, 16, 40], %v: f32[1, 2, 40, 16]) -> (%y) {
  const %scale: f32[] = {0.25}
  const %zero: f32[] = {0.0}
  const %low: f32[100, 40] = splat -inf
  const %past: i64[] = {-69}
  %causal = Trilu(%low, %past) {upper = 1}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Add(%s, %causal)
  %w = Softmax(%a) {axis = 3}
  %n = IsNaN(%w)
  %c = Where(%n, %zero, %w)
  %y = MatMul(%c, %v)
})",
     true},
    // As exporters of f16 wrote it: low numbers in place of scores, and triangles of ones that these are multiplied by.
    {"causal_of_ten_thousand",
     R"(graph "g" (%q: f32[1, 2, 50, 32], %k: f32[1, 2, 32, 50], %v: f32[1, 2, 50, 32]) -> (%y) {
  const %scale: f32[] = {0.177}
  const %low: f32[] = {-1e4}
  const %all: bool[1, 1, 50, 50] = splat true
  %seen = Trilu(%all) {upper = 0}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Where(%seen, %s, %low)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})",
     true},
    {"causal_of_ones",
     R"(graph "g" (%q: f32[1, 2, 50, 16], %k: f32[1, 2, 16, 50], %v: f32[1, 2, 50, 16]) -> (%y) {
  const %scale: f32[] = {0.25}
  const %all: f32[1, 1, 50, 50] = splat 1
  const %one: f32[] = {1}
  const %low: f32[] = {-1e4}
  %ones = Trilu(%all) {upper = 0}
  %zeros = Sub(%one, %ones)
  %hidden = Mul(%zeros, %low)
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %t = Mul(%s, %ones)
  %a = Add(%t, %hidden)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})",
     true},
    // The first queries see nothing but what is padded: they see it all a little, and what is hidden as well.
    {"causal_and_padded_low",
     R"(graph "g" (%q: f32[2, 2, 40, 16], %k: f32[2, 2, 16, 40], %v: f32[2, 2, 40, 16], %low_padding: f32[2, 1, 1, 40]) -> (%y) {
  const %scale: f32[] = {0.25}
  const %low: f32[40, 40] = splat -1e4
  const %one: i64[] = {1}
  %causal = Trilu(%low, %one) {upper = 1}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Add(%s, %causal)
  %b = Add(%a, %low_padding)
  %w = Softmax(%b) {axis = 3}
  %y = MatMul(%w, %v)
})"},
    {"causal_choice_and_padded_low",
     R"(graph "g" (%q: f32[2, 2, 70, 16], %k: f32[2, 2, 16, 50], %v: f32[2, 2, 50, 16], %low_padding: f32[2, 1, 1, 50]) -> (%y) {
  const %scale: f32[] = {0.25}
  const %low: f32[] = {-1e4}
  const %all: bool[1, 1, 70, 50] = splat true
  %seen = Trilu(%all) {upper = 0}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Where(%seen, %s, %low)
  %b = Add(%a, %low_padding)
  %w = Softmax(%b) {axis = 3}
  %y = MatMul(%w, %v)
})",
     true},
    {"causal_and_padded",
     R"(graph "g" (%q: f32[2, 2, 60, 16], %k: f32[2, 2, 16, 60], %v: f32[2, 2, 60, 16], %padding: f32[2, 1, 1, 60]) -> (%y) {
  const %scale: f32[] = {0.25}
  const %low: f32[60, 60] = splat -inf
  const %one: i64[] = {1}
  %causal = Trilu(%low, %one) {upper = 1}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Add(%s, %causal)
  %b = Add(%a, %padding)
  %w = Softmax(%b) {axis = 3}
  %y = MatMul(%w, %v)
})",
     true},
    {"causal_conditions",
     R"(graph "g" (%q: f32[2, 2, 35, 16], %k: f32[2, 2, 16, 35], %v: f32[2, 2, 35, 16], %padding: bool[2, 1, 1, 35]) -> (%y) {
  const %scale: f32[] = {0.25}
  const %zero: f32[] = {0.0}
  const %low: f32[] = {-inf}
  const %ones: bool[35, 35] = splat true
  %causal = Trilu(%ones) {upper = 0}
  %seen = And(%causal, %padding)
  %numbers = Where(%seen, %zero, %low)
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Add(%s, %numbers)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})",
     true},
    // Numbers that hang on the distance, besides.
    {"causal_with_numbers",
     R"(graph "g" (%q: f32[1, 2, 50, 16], %k: f32[1, 2, 16, 50], %v: f32[1, 2, 50, 16]) -> (%y) {
  const %scale: f32[] = {0.25}
  const %low: f32[1, 50, 50] = splat -inf
  const %one: i64[] = {1}
  const %slopes: f32[2, 1, 1] = {0.5, -0.25}
  %causal = Trilu(%low, %one) {upper = 1}
  %numbers = Add(%causal, %slopes)
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Add(%s, %numbers)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})",
     true},
    {"causal_numbers",
     R"(graph "g" (%q: f32[1, 2, 67, 32], %k: f32[1, 2, 32, 67], %v: f32[1, 2, 67, 32], %causal: f32[1, 1, 67, 67]) -> (%y) {
  const %scale: f32[] = {0.177}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Add(%s, %causal)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})"},
    {"causal_choice",
     R"(graph "g" (%q: f32[1, 2, 40, 16], %k: f32[1, 2, 16, 40], %v: f32[1, 2, 40, 16], %causal: bool[40, 40]) -> (%y) {
  const %scale: f32[] = {0.25}
  const %low: f32[] = {-3.4028235e38}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Where(%causal, %s, %low)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})"},
    // Who sees nothing sees all a little, if low is a number.
    {"blind_choice",
     R"(graph "g" (%q: f32[1, 2, 40, 16], %k: f32[1, 2, 16, 40], %v: f32[1, 2, 40, 16], %blind: bool[40, 40]) -> (%y) {
  const %scale: f32[] = {0.25}
  const %low: f32[] = {-3.4028235e38}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Where(%blind, %s, %low)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})"},
    {"blind_zeros",
     R"(graph "g" (%q: f32[1, 2, 40, 16], %k: f32[1, 2, 16, 40], %v: f32[1, 2, 40, 16], %blind: f32[1, 1, 40, 40]) -> (%y) {
  const %scale: f32[] = {0.25}
  const %zero: f32[] = {0.0}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Add(%s, %blind)
  %w = Softmax(%a) {axis = 3}
  %n = IsNaN(%w)
  %c = Where(%n, %zero, %w)
  %y = MatMul(%c, %v)
})"},
    {"mask_of_queries",
     R"(graph "g" (%q: f32[1, 2, 34, 16], %k: f32[1, 2, 16, 33], %v: f32[1, 2, 33, 16], %m: f32[2, 34, 1]) -> (%y) {
  const %scale: f32[] = {-0.25}
  %p = MatMul(%q, %k)
  %s = Mul(%p, %scale)
  %a = Add(%s, %m)
  %w = Softmax(%a) {axis = 3}
  %y = MatMul(%w, %v)
})"},
    {"heads_of_16",
     R"(graph "g" (%q: f32[1, 2, 17, 16], %k: f32[1, 2, 16, 65], %v: f32[1, 2, 65, 16]) -> (%y) {
  const %scale: f32[] = {0.25}
  %s = Mul(%q, %scale)
  %p = MatMul(%s, %k)
  %w = Softmax(%p) {axis = -1}
  %y = MatMul(%w, %v)
})"},
    {"heads_of_80",
     R"(graph "g" (%q: f32[1, 1, 20, 80], %k: f32[1, 1, 80, 34], %v: f32[1, 1, 34, 112]) -> (%y) {
  const %scale: f32[] = {0.11}
  %s = Mul(%q, %scale)
  %p = MatMul(%s, %k)
  %w = Softmax(%p) {axis = -1}
  %y = MatMul(%w, %v)
})"},
    {"heads_of_96",
     R"(graph "g" (%q: f32[1, 1, 33, 96], %k: f32[1, 1, 64, 96], %v: f32[1, 1, 64, 96]) -> (%y) {
  const %scale: f32[] = {0.1}
  %t = Transpose(%k) {perm = [0, 1, 3, 2]}
  %s = Mul(%q, %scale)
  %p = MatMul(%s, %t)
  %w = Softmax(%p) {axis = -1}
  %y = MatMul(%w, %v)
})"},
    {"heads_of_128",
     R"(graph "g" (%q: f32[1, 2, 50, 128], %k: f32[1, 2, 70, 128], %v: f32[1, 2, 70, 128]) -> (%y) {
  const %scale: f32[] = {0.088}
  %t = Transpose(%k) {perm = [0, 1, 3, 2]}
  %s = Mul(%q, %scale)
  %p = MatMul(%s, %t)
  %w = Softmax(%p) {axis = -1}
  %y = MatMul(%w, %v)
})"},
};

// By query and key, in the order of the mask's last two dimensions: whether the one sees the other.
using Sees = bool (*)(int64_t query, int64_t key, int64_t keys);

// `low` is what numbers hide by.
Tensor MaskOf(const TensorType& type, Sees sees, float low) {
  const int64_t keys = type.shape.back();
  const int64_t queries = type.shape[type.shape.size() - 2];
  Tensor mask = Tensor::Zeros(type.dtype, type.shape);
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    const bool is_seen = sees(i / keys % queries, i % keys, keys);
    if (type.dtype == DataType::kBool) {
      mask.mutable_bytes()[i] = is_seen ? 1 : 0;
    } else {
      mask.mutable_values<float>()[static_cast<size_t>(i)] = is_seen ? 0 : low;
    }
  }
  return mask;
}

Sees FindSees(const std::string& name) {
  if (name == "causal") return [](int64_t query, int64_t key, int64_t) { return key <= query; };
  if (name == "blind") return [](int64_t query, int64_t key, int64_t) { return key < query; };
  if (name == "padding") {
    return [](int64_t, int64_t key, int64_t keys) { return key < keys - keys / 3; };
  }
  if (name == "low_padding")
    return [](int64_t, int64_t key, int64_t keys) { return key >= keys / 3; };
  return nullptr;
}

}  // namespace

absl::Span<const AttentionGraph> AttentionGraphs() { return kGraphs; }

std::vector<Tensor> AttentionInputs(const Graph& graph) {
  std::vector<Tensor> inputs = RandomInputs(graph, 7);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph.value(graph.inputs[i]);
    if (const Sees sees = FindSees(value.name); sees != nullptr) {
      const float low =
          value.name == "low_padding" ? -1e4F : -std::numeric_limits<float>::infinity();
      inputs[i] = MaskOf(value.type->tensor(), sees, low);
    }
  }
  return inputs;
}

}  // namespace slipway::testing
