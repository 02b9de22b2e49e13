// Gemm and MatMul by constant matrices.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/passes/canonicalize_rules.h"
#include "core/passes/computed_constant.h"

namespace slipway {
namespace {

// Tile by tile: weights of fully connected layers exceed any cache.
void TransposeScaled(const float* from, int64_t rows, int64_t columns, float alpha, float* to) {
  constexpr int64_t kTile = 32;
  for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
    for (int64_t c0 = 0; c0 < columns; c0 += kTile) {
      for (int64_t r = r0; r < std::min(rows, r0 + kTile); ++r) {
        for (int64_t c = c0; c < std::min(columns, c0 + kTile); ++c) {
          to[c * rows + r] = alpha * from[r * columns + c];
        }
      }
    }
  }
}

// alpha * m, transposed if asked.
Tensor ScaledMatrix(const Tensor& m, bool transpose, float alpha) {
  const int64_t rows = m.shape()[0];
  const int64_t columns = m.shape()[1];
  const Shape shape = transpose ? Shape{columns, rows} : Shape{rows, columns};
  return ComputedConstant(m, {DataType::kFloat32, shape}, [=](const Tensor& plain, Tensor& scaled) {
    const absl::Span<const float> from = plain.values<float>();
    const absl::Span<float> to = scaled.mutable_values<float>();
    if (transpose) {
      TransposeScaled(from.data(), rows, columns, alpha, to.data());
    } else {
      std::transform(from.begin(), from.end(), to.begin(), [alpha](float v) { return alpha * v; });
    }
  });
}

// C of Gemm as one value a column, scaled. Unset where it varies from row to row.
Tensor BiasOf(const Tensor& c, int64_t columns, float beta) {
  const Shape& shape = c.shape();
  const bool by_column = shape.empty() || (shape.size() == 1) || shape[0] == 1;
  if (c.dtype() != DataType::kFloat32 || !by_column || shape.size() > 2) return Tensor();
  const absl::Span<const float> from = c.values<float>();
  if (from.size() != 1 && static_cast<int64_t>(from.size()) != columns) return Tensor();
  Tensor bias = Tensor::Zeros(DataType::kFloat32, {columns});
  for (int64_t n = 0; n < columns; ++n) {
    bias.mutable_values<float>()[n] = beta * from[from.size() == 1 ? 0 : n];
  }
  return bias;
}

absl::StatusOr<ValueId> AddScaled(GraphRewriter& rewriter, ValueId x, float factor,
                                  const std::string& name) {
  if (factor == 1) return x;
  const ValueId constant =
      rewriter.Constant(absl::StrCat(name, "_factor"), Tensor::Scalar<float>(factor));
  return rewriter.Add("Mul", {x, constant}, {}, absl::StrCat(name, "_scaled"));
}

absl::StatusOr<ValueId> AddTransposed(GraphRewriter& rewriter, ValueId x, const std::string& name) {
  return rewriter.Add("Transpose", {x}, {{"perm", Ints({1, 0})}},
                      absl::StrCat(name, "_transposed"));
}

absl::StatusOr<bool> CanonicalizeGemm(Node& node, GraphRewriter& rewriter,
                                      const PassContext& context) {
  if (rewriter.type(node.inputs[0]).dtype() != DataType::kFloat32) return false;
  float alpha, beta;
  bool transpose_a, transpose_b;
  {
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                             NodeView::Create(rewriter.graph(), node, context.registry));
    alpha = view.Float("alpha");
    beta = view.Float("beta");
    transpose_a = view.Int("transA") != 0;
    transpose_b = view.Int("transB") != 0;
  }
  const std::string name = DisplayName(rewriter.graph(), node);
  const Dimension made = rewriter.type(node.outputs[0]).dimension(1);
  if (!made.is_known()) return false;
  const int64_t columns = made.extent();
  ValueId a = node.inputs[0];
  ValueId b = node.inputs[1];
  const ValueId c = node.inputs.size() > 2 && beta != 0 ? node.inputs[2] : kNoValue;

  if (const Tensor* weights = rewriter.constant(b)) {
    if (transpose_b || alpha != 1) {
      const std::string weights_name = rewriter.graph().values[b].name;
      const Tensor scaled = ScaledMatrix(*weights, transpose_b, alpha);
      b = rewriter.Constant(absl::StrCat(weights_name, "_kn"), scaled);
    }
  } else {
    if (transpose_b) {
      SLIPWAY_ASSIGN_OR_RETURN(b, AddTransposed(rewriter, b, absl::StrCat(name, "_b")));
    }
    SLIPWAY_ASSIGN_OR_RETURN(a, AddScaled(rewriter, a, alpha, absl::StrCat(name, "_a")));
  }
  if (transpose_a) {
    SLIPWAY_ASSIGN_OR_RETURN(a, AddTransposed(rewriter, a, absl::StrCat(name, "_a")));
  }
  std::vector<ValueId> inputs = {a, b};
  ValueId addend = kNoValue;
  if (c != kNoValue) {
    Tensor bias;
    if (const Tensor* constant = rewriter.constant(c)) bias = BiasOf(*constant, columns, beta);
    if (bias.is_set()) {
      const std::string bias_name = absl::StrCat(rewriter.graph().values[c].name, "_n");
      inputs.push_back(rewriter.Constant(bias_name, std::move(bias)));
    } else {
      SLIPWAY_ASSIGN_OR_RETURN(addend, AddScaled(rewriter, c, beta, absl::StrCat(name, "_c")));
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(ValueId product, rewriter.Add("Gemm", std::move(inputs), {}, name));
  if (addend != kNoValue) {
    SLIPWAY_ASSIGN_OR_RETURN(product, rewriter.Add("Add", {product, addend}, {}, name));
  }
  rewriter.Replace(node, product);
  return true;
}

absl::StatusOr<bool> CanonicalizeMatMul(Node& node, GraphRewriter& rewriter, const PassContext&) {
  const ValueId a = node.inputs[0];
  const ValueId b = node.inputs[1];
  if (rewriter.constant(b) == nullptr) return false;
  const Dimensions a_shape = rewriter.type(a).dimensions();
  const ValueType result = rewriter.type(node.outputs[0]);
  const Dimension rows = NumElements(absl::MakeConstSpan(a_shape).first(a_shape.size() - 1));
  const Dimension elements = NumElements(result.dimensions());
  if (rewriter.type(b).rank() != 2 || a_shape.size() < 2 || result.dtype() != DataType::kFloat32 ||
      elements == Dimension(0) || elements.is_unknown() || rows.is_unknown() ||
      !a_shape.back().is_known() || a_shape.back().extent() == 0) {
    return false;
  }
  const std::string name = DisplayName(rewriter.graph(), node);
  if (a_shape.size() == 2) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId product, rewriter.Add("Gemm", {a, b}, {}, name));
    rewriter.Replace(node, product);
    return true;
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId flat, AddReshape(rewriter, a, {rows, a_shape.back()},
                                                          absl::StrCat(name, "_rows")));
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId product, rewriter.Add("Gemm", {flat, b}, {}, name));
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId shaped, AddReshape(rewriter, product, result.dimensions(),
                                                            absl::StrCat(name, "_shaped")));
  rewriter.Replace(node, shaped);
  return true;
}

}  // namespace

void AddProductRules(CanonicalizeRules& rules) {
  rules["Gemm"] = CanonicalizeGemm;
  rules["MatMul"] = CanonicalizeMatMul;
}

}  // namespace slipway
