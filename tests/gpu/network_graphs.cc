#include "tests/gpu/network_graphs.h"

#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "core/passes/testing/pass_tester.h"
#include "core/tensor/tensor.h"

namespace slipway::testing {
namespace {

// A layer of BERT's: what is padded is hidden by numbers, sums are normalized behind.
constexpr char kEncoder[] = R"(graph "g" (%x: f32[2, 33, 64], %padding: f32[2, 1, 1, 33],
    %wq: f32[64, 64], %bq: f32[64], %wk: f32[64, 64], %bk: f32[64], %wv: f32[64, 64], %bv: f32[64],
    %wo: f32[64, 64], %bo: f32[64], %g1: f32[64], %b1: f32[64],
    %wi: f32[64, 128], %bi: f32[128], %wu: f32[128, 64], %bu: f32[64], %g2: f32[64], %b2: f32[64]) -> (%y) {
  const %heads: i64[4] = {2, 33, 2, 32}
  const %rows: i64[3] = {2, 33, 64}
  const %root: f32[] = {5.656854}
  const %two: f32[] = {1.4142135}
  const %one: f32[] = {1.0}
  const %half: f32[] = {0.5}
  %qp = MatMul(%x, %wq)
  %qb = Add(%qp, %bq)
  %qh = Reshape(%qb, %heads)
  %q = Transpose(%qh) {perm = [0, 2, 1, 3]}
  %kp = MatMul(%x, %wk)
  %kb = Add(%kp, %bk)
  %kh = Reshape(%kb, %heads)
  %k = Transpose(%kh) {perm = [0, 2, 3, 1]}
  %vp = MatMul(%x, %wv)
  %vb = Add(%vp, %bv)
  %vh = Reshape(%vb, %heads)
  %v = Transpose(%vh) {perm = [0, 2, 1, 3]}
  %s = MatMul(%q, %k)
  %d = Div(%s, %root)
  %m = Add(%d, %padding)
  %p = Softmax(%m) {axis = -1}
  %c = MatMul "attention" (%p, %v)
  %ct = Transpose(%c) {perm = [0, 2, 1, 3]}
  %cr = Reshape(%ct, %rows)
  %o = MatMul "out" (%cr, %wo)
  %ob = Add(%o, %bo)
  %r = Add(%ob, %x)
  %n = LayerNormalization "norm" (%r, %g1, %b1) {axis = -1}
  %i = MatMul "in" (%n, %wi)
  %ib = Add(%i, %bi)
  %e0 = Div(%ib, %two)
  %e1 = Erf(%e0)
  %e2 = Add(%e1, %one)
  %e3 = Mul(%ib, %e2)
  %e4 = Mul(%e3, %half)
  %u = MatMul "up" (%e4, %wu)
  %ub = Add(%u, %bu)
  %w = Add(%ub, %n)
  %y = LayerNormalization "end" (%w, %g2, %b2) {axis = -1}
})";

// A block of GPT-2's: one product for queries, keys and values, and a triangle of low numbers.
constexpr char kDecoder[] = R"(graph "g" (%x: f32[1, 40, 64], %g1: f32[64], %b1: f32[64],
    %wa: f32[64, 192], %ba: f32[192], %wo: f32[64, 64], %bo: f32[64], %g2: f32[64], %b2: f32[64],
    %wi: f32[64, 128], %bi: f32[128], %wu: f32[128, 64], %bu: f32[64]) -> (%y) {
  const %sizes: i64[3] = {64, 64, 64}
  const %heads: i64[4] = {1, 40, 2, 32}
  const %rows: i64[3] = {1, 40, 64}
  const %matrix: i64[2] = {40, 64}
  const %matrix_of_all: i64[2] = {40, 192}
  const %all: i64[3] = {1, 40, 192}
  const %wide: i64[2] = {40, 128}
  const %root: f32[] = {5.656854}
  const %ones: bool[1, 1, 40, 40] = splat true
  const %low: f32[] = {-3.4028235e38}
  const %three: f32[] = {3}
  const %c1: f32[] = {0.044715}
  const %c2: f32[] = {0.7978846}
  const %one: f32[] = {1.0}
  const %half: f32[] = {0.5}
  %n = LayerNormalization "before" (%x, %g1, %b1) {axis = -1}
  %nm = Reshape(%n, %matrix)
  %a = Gemm "qkv" (%nm, %wa, %ba)
  %aa = Reshape(%a, %all)
  %qp, %kp, %vp = Split(%aa, %sizes) {axis = 2}
  %qh = Reshape(%qp, %heads)
  %q = Transpose(%qh) {perm = [0, 2, 1, 3]}
  %kh = Reshape(%kp, %heads)
  %k = Transpose(%kh) {perm = [0, 2, 3, 1]}
  %vh = Reshape(%vp, %heads)
  %v = Transpose(%vh) {perm = [0, 2, 1, 3]}
  %s = MatMul(%q, %k)
  %d = Div(%s, %root)
  %seen = Trilu(%ones) {upper = 0}
  %m = Where(%seen, %d, %low)
  %p = Softmax(%m) {axis = -1}
  %c = MatMul "attention" (%p, %v)
  %ct = Transpose(%c) {perm = [0, 2, 1, 3]}
  %cr = Reshape(%ct, %matrix)
  %o = Gemm "out" (%cr, %wo, %bo)
  %or = Reshape(%o, %rows)
  %r = Add(%or, %x)
  %n2 = LayerNormalization "between" (%r, %g2, %b2) {axis = -1}
  %n2m = Reshape(%n2, %matrix)
  %i = Gemm "in" (%n2m, %wi, %bi)
  %cube = Pow(%i, %three)
  %t1 = Mul(%cube, %c1)
  %t2 = Add(%i, %t1)
  %t3 = Mul(%t2, %c2)
  %t4 = Tanh(%t3)
  %t5 = Add(%t4, %one)
  %t6 = Mul(%i, %half)
  %t7 = Mul(%t6, %t5)
  %u = Gemm "up" (%t7, %wu, %bu)
  %ur = Reshape(%u, %rows)
  %y = Add(%ur, %r)
})";

// Patches of an image and a layer of ViT's: queries, keys and values lie behind each other in one product.
constexpr char kVision[] = R"(graph "g" (%x: f32[1, 3, 16, 24], %wp: f32[64, 3, 4, 4], %bp: f32[64],
    %bc: f32[1, 1, 64], %be: f32[1, 25, 64], %g1: f32[64], %b1: f32[64],
    %wa: f32[64, 192], %ba: f32[192], %wo: f32[64, 64], %bo: f32[64], %g2: f32[64], %b2: f32[64],
    %wi: f32[64, 128], %bi: f32[128], %wu: f32[128, 64], %bu: f32[64]) -> (%y) {
  const %flat: i64[3] = {1, 64, 24}
  const %five: i64[5] = {1, 25, 3, 2, 32}
  const %ones: i64[3] = {1, 1, 1}
  const %four: i64[4] = {1, 2, 25, 32}
  const %rows: i64[3] = {1, 25, 64}
  const %scale: f32[] = {0.1767767}
  %patches = Conv "patches" (%x, %wp, %bp) {strides = [4, 4]}
  %pf = Reshape(%patches, %flat)
  %pt = Transpose(%pf) {perm = [0, 2, 1]}
  %tokens = Concat(%bc, %pt) {axis = 1}
  %t = Add(%tokens, %be)
  %n = LayerNormalization "before" (%t, %g1, %b1) {axis = -1}
  %a = MatMul "qkv" (%n, %wa)
  %ab = Add(%a, %ba)
  %a5 = Reshape(%ab, %five)
  %at = Transpose(%a5) {perm = [2, 0, 3, 1, 4]}
  %q5, %k5, %v5 = Split(%at, %ones) {axis = 0}
  %q = Reshape(%q5, %four)
  %k = Reshape(%k5, %four)
  %v = Reshape(%v5, %four)
  %kt = Transpose(%k) {perm = [0, 1, 3, 2]}
  %s = MatMul(%q, %kt)
  %d = Mul(%s, %scale)
  %p = Softmax(%d) {axis = -1}
  %c = MatMul "attention" (%p, %v)
  %ct = Transpose(%c) {perm = [0, 2, 1, 3]}
  %cr = Reshape(%ct, %rows)
  %o = MatMul "out" (%cr, %wo)
  %ob = Add(%o, %bo)
  %r = Add(%ob, %t)
  %n2 = LayerNormalization "between" (%r, %g2, %b2) {axis = -1}
  %i = MatMul "in" (%n2, %wi)
  %ib = Add(%i, %bi)
  %e = Gelu(%ib)
  %u = MatMul "up" (%e, %wu)
  %ub = Add(%u, %bu)
  %y = Add(%ub, %r)
})";

}  // namespace

absl::Span<const NetworkGraph> NetworkGraphs() {
  static const auto& kGraphs = *new std::vector<NetworkGraph>{
      {"encoder",
       kEncoder,
       {"Gemm qp", "Gemm kp", "Gemm vp", "BlockAttention attention", "Gemm+Add out",
        "LayerNormalization norm", "Gemm+Gelu in", "Gemm+Add up", "LayerNormalization end"},
       7},
      {"decoder",
       kDecoder,
       {"LayerNormalization before", "Gemm qkv", "BlockAttention attention", "Gemm+Add out",
        "LayerNormalization between", "Gemm+Gelu in", "Gemm+Add up"},
       5},
      {"vision",
       kVision,
       {"Conv patches", "Transpose pt", "Concat tokens, 1 of 2", "Concat tokens, 2 of 2", "Add t",
        "LayerNormalization before", "Gemm qkv", "BlockAttention attention", "Gemm+Add out",
        "LayerNormalization between", "Gemm+Gelu in", "Gemm+Add up"},
       6},
  };
  return kGraphs;
}

Graph WithWeights(Graph graph) {
  const std::vector<Tensor> random = RandomInputs(graph, 11);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueId id = graph.inputs[i];
    Value& value = graph.value(id);
    const char kind = value.name[0];
    if (kind != 'w' && kind != 'g' && kind != 'b') {
      inputs.push_back(id);
      continue;
    }
    Tensor constant = random[i];
    const Shape& shape = constant.shape();
    // Of a matrix its rows, of windows all but their number, are added up.
    const int64_t depth = shape.size() == 2 ? shape[0] : NumElements(shape) / shape[0];
    const float size = kind == 'w' ? 1 / std::sqrt(static_cast<float>(depth)) : 0.1F;
    for (float& number : constant.mutable_values<float>()) {
      number = number * size + (kind == 'g' ? 1.0F : 0.0F);
    }
    value.constant = std::move(constant);
  }
  graph.inputs = std::move(inputs);
  return graph;
}

}  // namespace slipway::testing
