#include "core/operators/matrix.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/operators/small_numbers.h"
#include "core/operators/strassen.h"

namespace slipway {
namespace {

using OpenGemmView = BasicGemmView<Dimension>;
using OpenMatMulView = BasicMatMulView<Dimension>;

absl::Status Mismatch(const NodeView& view) {
  return view.Error(absl::StrCat("matrices of shapes ", ToString(DimensionsOf(view, 0)), " and ",
                                 ToString(DimensionsOf(view, 1)), " cannot be multiplied"));
}

absl::Status CheckTypes(const NodeView& view, TypeSet set) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, set));
  return CheckSameDtypes(view);
}

absl::StatusOr<OpenGemmView> DecodePlainGemm(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2, 2));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 2, 2));
  const ValueType& a = view.input_type(0);
  const ValueType& b = view.input_type(1);
  OpenGemmView gemm;
  gemm.transpose_a = view.Int("transA") != 0;
  gemm.transpose_b = view.Int("transB") != 0;
  gemm.alpha = view.Float("alpha");
  gemm.beta = view.Float("beta");
  gemm.m = a.dimension(gemm.transpose_a ? 1 : 0);
  gemm.k = a.dimension(gemm.transpose_a ? 0 : 1);
  gemm.n = b.dimension(gemm.transpose_b ? 0 : 1);
  gemm.has_c = view.has_input(2);
  if (view.Differ(b.dimension(gemm.transpose_b ? 1 : 0), gemm.k)) return Mismatch(view);
  if (gemm.has_c) {
    const Dimensions result = {gemm.m, gemm.n};
    const auto both = BroadcastInputs(view, DimensionsOf(view, 2), result);
    if (!both.ok() || view.Differ(*both, result)) {
      return view.Error(absl::StrCat("c of shape ", ToString(DimensionsOf(view, 2)),
                                     " does not broadcast to ", ToString(result)));
    }
  }
  return gemm;
}

// Null where y is of x's type.
const SmallNumbers* FindSmallNumbers(const NodeView& view) {
  if (view.op() == "slipway.IntegerGemm") return &kShorts;
  if (view.op() != "slipway.GemmPacked") return nullptr;
  return FindSmallNumbers(kPackedSmallNumbers, view.input_type(0).dtype());
}

absl::Status CheckGemmTypes(const NodeView& view) {
  if (view.op() == "slipway.StrassenGemm") {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, {DataType::kFloat32}));
    return CheckSameDtypes(view);
  }
  const SmallNumbers* const numbers = FindSmallNumbers(view);
  if (numbers == nullptr) {
    return CheckTypes(view, view.op() == "Gemm" ? TypeSet::kAnyNumeric : TypeSet::kFloat);
  }
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, {numbers->x}));
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 1, {numbers->w}));
  if (!view.has_input(2)) return absl::OkStatus();
  if (!numbers->has_bias) return view.Error("a product of integers of 16 bits has no bias");
  return CheckDtype(view, 2, {numbers->y});
}

absl::Status CheckPackedBias(const NodeView& view, int64_t columns) {
  if (!view.has_input(2) || SameExtents(DimensionsOf(view, 2), {{Dimension(columns)}})) {
    return absl::OkStatus();
  }
  return view.Error(absl::StrCat("the bias has the shape ", ToString(DimensionsOf(view, 2)),
                                 " where [", columns, "] is needed"));
}

absl::StatusOr<OpenGemmView> DecodeIntegerGemm(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2, 2));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 2, 2));
  OpenGemmView gemm;
  gemm.m = view.input_type(0).dimension(0);
  gemm.k = view.input_type(0).dimension(1);
  gemm.n = view.input_type(1).dimension(1);
  if (view.Differ(view.input_type(1).dimension(0), gemm.k)) return Mismatch(view);
  return gemm;
}

absl::StatusOr<OpenGemmView> DecodePackedGemm(const NodeView& view) {
  const SmallNumbers* const numbers = FindSmallNumbers(view);
  const int64_t terms = numbers == nullptr ? 1 : numbers->terms;
  const int w_rank = terms > 1 ? 4 : 3;
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2, 2));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, w_rank, w_rank));
  const Dimensions x = DimensionsOf(view, 0);
  if (!view.input_type(1).is_static()) {
    return view.Unimplemented(
        absl::StrCat("w of ", ToString(view.input_type(1)), " is not supported"));
  }
  const Shape& w = view.input_shape(1);
  const int64_t columns = view.Int("columns");
  OpenGemmView gemm;
  gemm.m = x[0];
  gemm.k = x[1];
  gemm.n = columns;
  gemm.block = w[2];
  gemm.terms = terms;
  gemm.has_c = view.has_input(2);
  if (w.back() != terms && terms > 1) {
    return view.Error(
        absl::StrCat("w has ", w.back(), " numbers innermost where ", terms, " are needed"));
  }
  if (view.Differ(x[1], w[1] * terms)) return Mismatch(view);
  if (columns < 1 || gemm.block < 1 || (columns - 1) / gemm.block + 1 != w[0]) {
    return view.Error(absl::StrCat(columns, " columns do not fit w of shape ", ToString(w)));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckPackedBias(view, columns));
  return gemm;
}

absl::StatusOr<OpenGemmView> DecodeStrassenGemm(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2, 2));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 4, 4));
  const Dimensions x = DimensionsOf(view, 0);
  if (!view.input_type(1).is_static()) {
    return view.Unimplemented(
        absl::StrCat("w of ", ToString(view.input_type(1)), " is not supported"));
  }
  const Shape& w = view.input_shape(1);
  OpenGemmView gemm;
  gemm.m = x[0];
  gemm.k = x[1];
  gemm.block = w[3];
  gemm.has_c = view.has_input(2);
  int64_t columns = 0;
  if (w[1] != kStrassenProducts || w[0] < 1 || w[2] < 1 || w[3] < 1 ||
      __builtin_mul_overflow(w[0] * 2, w[3], &columns)) {
    return view.Error(absl::StrCat("w has the shape ", ToString(w), " where [N/2/n, ",
                                   kStrassenProducts, ", K/2, n] is needed"));
  }
  gemm.n = columns;
  if (view.Differ(x[1], w[2] * 2)) return Mismatch(view);
  SLIPWAY_RETURN_IF_ERROR(CheckPackedBias(view, columns));
  return gemm;
}

absl::StatusOr<OpenGemmView> DecodeOpenGemm(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckGemmTypes(view));
  if (view.op() == "Gemm") return DecodePlainGemm(view);
  if (view.op() == "slipway.IntegerGemm") return DecodeIntegerGemm(view);
  return view.op() == "slipway.StrassenGemm" ? DecodeStrassenGemm(view) : DecodePackedGemm(view);
}

absl::StatusOr<std::vector<ValueType>> GemmType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const OpenGemmView gemm, DecodeOpenGemm(view));
  const SmallNumbers* const numbers = FindSmallNumbers(view);
  const DataType dtype = numbers != nullptr ? numbers->y : view.input_type(0).dtype();
  return std::vector<ValueType>{ValueType(dtype, {gemm.m, gemm.n})};
}

absl::StatusOr<OpenMatMulView> DecodeOpenMatMul(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckTypes(view, TypeSet::kAnyNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 1));
  const Dimensions a = DimensionsOf(view, 0);
  const Dimensions b = DimensionsOf(view, 1);
  OpenMatMulView product;
  product.a_is_vector = a.size() == 1;
  product.b_is_vector = b.size() == 1;
  product.m = product.a_is_vector ? Dimension(1) : a[a.size() - 2];
  product.k = a.back();
  product.n = product.b_is_vector ? Dimension(1) : b.back();
  if (view.Differ(product.b_is_vector ? b[0] : b[b.size() - 2], product.k)) return Mismatch(view);
  SLIPWAY_ASSIGN_OR_RETURN(
      product.batch,
      BroadcastInputs(view, DimensionsOf(view, 0, 0, product.a_is_vector ? 0 : a.size() - 2),
                      DimensionsOf(view, 1, 0, product.b_is_vector ? 0 : b.size() - 2)));
  return product;
}

absl::StatusOr<std::vector<ValueType>> MatMulType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const OpenMatMulView product, DecodeOpenMatMul(view));
  Dimensions y = product.batch;
  if (!product.a_is_vector) y.push_back(product.m);
  if (!product.b_is_vector) y.push_back(product.n);
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

}  // namespace

absl::StatusOr<GemmView> DecodeGemm(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const OpenGemmView gemm, DecodeOpenGemm(view));
  if (!gemm.n.is_known() || !gemm.k.is_known()) {
    return view.Unimplemented("columns and a depth that are not known are not supported");
  }
  const SmallNumbers* const numbers = FindSmallNumbers(view);
  return GemmView{gemm.m.is_known() ? gemm.m.extent() : kOpenRows,
                  gemm.n.extent(),
                  gemm.k.extent(),
                  gemm.transpose_a,
                  gemm.transpose_b,
                  gemm.alpha,
                  gemm.beta,
                  gemm.has_c,
                  gemm.block,
                  gemm.terms,
                  numbers != nullptr && numbers->y == DataType::kInt32};
}

absl::StatusOr<MatMulView> DecodeMatMul(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(view.RequireStatic());
  SLIPWAY_ASSIGN_OR_RETURN(const OpenMatMulView product, DecodeOpenMatMul(view));
  return MatMulView{KnownExtents(product.batch), product.m.extent(),  product.n.extent(),
                    product.k.extent(),          product.a_is_vector, product.b_is_vector};
}

absl::Status RegisterMatrixOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.pattern = Pattern::kOutFusable;
  schema.min_inputs = schema.max_inputs = 2;
  schema.name = "MatMul";
  schema.type_rule = MatMulType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.type_rule = GemmType;
  schema.name = "slipway.IntegerGemm";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.max_inputs = 3;
  schema.name = "slipway.StrassenGemm";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.name = "slipway.GemmPacked";
  schema.attributes = {Required(IntAttribute("columns", std::nullopt))};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.name = "Gemm";
  schema.attributes = {FloatAttribute("alpha", 1), FloatAttribute("beta", 1),
                       IntAttribute("transA", 0), IntAttribute("transB", 0)};
  return registry.Add(schema);
}

}  // namespace slipway
