#include "core/operators/matrix.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

absl::Status Mismatch(const NodeView& view) {
  return view.Error(absl::StrCat("matrices of shapes ", ToString(view.input_shape(0)), " and ",
                                 ToString(view.input_shape(1)), " cannot be multiplied"));
}

absl::Status CheckTypes(const NodeView& view, TypeSet set) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, set));
  return CheckSameDtypes(view);
}

absl::StatusOr<GemmView> DecodePlainGemm(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2, 2));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 2, 2));
  const Shape& a = view.input_shape(0);
  const Shape& b = view.input_shape(1);
  GemmView gemm;
  gemm.transpose_a = view.Int("transA") != 0;
  gemm.transpose_b = view.Int("transB") != 0;
  gemm.alpha = view.Float("alpha");
  gemm.beta = view.Float("beta");
  gemm.m = a[gemm.transpose_a ? 1 : 0];
  gemm.k = a[gemm.transpose_a ? 0 : 1];
  gemm.n = b[gemm.transpose_b ? 0 : 1];
  gemm.has_c = view.has_input(2);
  if (b[gemm.transpose_b ? 1 : 0] != gemm.k) return Mismatch(view);
  if (gemm.has_c) {
    const Shape result = {gemm.m, gemm.n};
    const auto both = BroadcastShapes(view.input_shape(2), result);
    if (!both.ok() || *both != result) {
      return view.Error(absl::StrCat("c of shape ", ToString(view.input_shape(2)),
                                     " does not broadcast to ", ToString(result)));
    }
  }
  return gemm;
}

absl::StatusOr<GemmView> DecodePackedGemm(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2, 2));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 3, 3));
  const Shape& x = view.input_shape(0);
  const Shape& w = view.input_shape(1);
  GemmView gemm;
  gemm.m = x[0];
  gemm.k = x[1];
  gemm.n = view.Int("columns");
  gemm.block = w[2];
  gemm.has_c = view.has_input(2);
  if (w[1] != gemm.k) return Mismatch(view);
  if (gemm.n < 1 || gemm.block < 1 || (gemm.n - 1) / gemm.block + 1 != w[0]) {
    return view.Error(absl::StrCat(gemm.n, " columns do not fit w of shape ", ToString(w)));
  }
  if (gemm.has_c && view.input_shape(2) != Shape{gemm.n}) {
    return view.Error(absl::StrCat("the bias has the shape ", ToString(view.input_shape(2)),
                                   " where [", gemm.n, "] is needed"));
  }
  return gemm;
}

absl::StatusOr<std::vector<TensorType>> GemmType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const GemmView gemm, DecodeGemm(view));
  return std::vector<TensorType>{{view.input_type(0).dtype, {gemm.m, gemm.n}}};
}

absl::StatusOr<std::vector<TensorType>> MatMulType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const MatMulView product, DecodeMatMul(view));
  TensorType type{view.input_type(0).dtype, product.batch};
  if (!product.a_is_vector) type.shape.push_back(product.m);
  if (!product.b_is_vector) type.shape.push_back(product.n);
  return std::vector<TensorType>{type};
}

}  // namespace

absl::StatusOr<GemmView> DecodeGemm(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckTypes(view, TypeSet::kFloat));
  return view.op() == "Gemm" ? DecodePlainGemm(view) : DecodePackedGemm(view);
}

absl::StatusOr<MatMulView> DecodeMatMul(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckTypes(view, TypeSet::kNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 1));
  const absl::Span<const int64_t> a = view.input_shape(0);
  const absl::Span<const int64_t> b = view.input_shape(1);
  MatMulView product;
  product.a_is_vector = a.size() == 1;
  product.b_is_vector = b.size() == 1;
  product.m = product.a_is_vector ? 1 : a[a.size() - 2];
  product.k = a.back();
  product.n = product.b_is_vector ? 1 : b.back();
  if ((product.b_is_vector ? b[0] : b[b.size() - 2]) != product.k) return Mismatch(view);
  auto batch = BroadcastShapes(a.subspan(0, product.a_is_vector ? 0 : a.size() - 2),
                               b.subspan(0, product.b_is_vector ? 0 : b.size() - 2));
  if (!batch.ok()) return view.Annotated(batch.status());
  product.batch = *std::move(batch);
  return product;
}

absl::Status RegisterMatrixOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.pattern = Pattern::kOutFusable;
  schema.min_inputs = schema.max_inputs = 2;
  schema.name = "MatMul";
  schema.type_rule = MatMulType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.max_inputs = 3;
  schema.type_rule = GemmType;
  schema.name = "slipway.GemmPacked";
  schema.attributes = {Required(IntAttribute("columns", std::nullopt))};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.name = "Gemm";
  schema.attributes = {FloatAttribute("alpha", 1), FloatAttribute("beta", 1),
                       IntAttribute("transA", 0), IntAttribute("transB", 0)};
  return registry.Add(schema);
}

}  // namespace slipway
