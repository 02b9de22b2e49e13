#include "core/operators/svm.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/operators/classes.h"

namespace slipway {
namespace {

constexpr DataType kNumbers[] = {DataType::kFloat32, DataType::kFloat64, DataType::kInt64,
                                 DataType::kInt32};

bool IsClassifier(const NodeView& view) { return view.op() == "ai.onnx.ml.SVMClassifier"; }

absl::Status RequireCount(const NodeView& view, absl::string_view attribute, int64_t count,
                          int64_t wanted) {
  if (count == wanted) return absl::OkStatus();
  return view.Error(
      absl::StrCat("\"", attribute, "\" has ", count, " entries, ", wanted, " are needed"));
}

std::vector<float> FloatsOrNone(const NodeView& view, absl::string_view attribute) {
  return view.has(attribute) ? view.Floats(attribute) : std::vector<float>();
}

absl::Status DecodeKernel(const NodeView& view, SvmView& svm) {
  constexpr std::pair<const char*, SvmKernel> kKernels[] = {{"LINEAR", SvmKernel::kLinear},
                                                            {"POLY", SvmKernel::kPolynomial},
                                                            {"RBF", SvmKernel::kRadial},
                                                            {"SIGMOID", SvmKernel::kSigmoid}};
  const std::string& name = view.String("kernel_type");
  bool found = false;
  for (const auto& [known, kernel] : kKernels) {
    if (name == known) svm.kernel = kernel;
    found |= name == known;
  }
  if (!found) {
    return view.Error(
        absl::StrCat("\"kernel_type\" is \"", name, "\", not LINEAR, POLY, RBF or SIGMOID"));
  }
  const std::vector<float> parameters = FloatsOrNone(view, "kernel_params");
  if (parameters.empty()) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(RequireCount(view, "kernel_params", std::ssize(parameters), 3));
  svm.gamma = parameters[0];
  svm.offset = parameters[1];
  svm.degree = parameters[2];
  return absl::OkStatus();
}

// The vectors, which are `supports`.
absl::Status DecodeVectors(const NodeView& view, int64_t supports, SvmView& svm) {
  svm.vectors = FloatsOrNone(view, "support_vectors");
  const int64_t numbers = std::ssize(svm.vectors);
  if (supports < 1 || numbers < supports || numbers % supports != 0) {
    return view.Error(
        absl::StrCat("\"support_vectors\" has ", numbers, " entries for ", supports, " vectors"));
  }
  svm.features = numbers / supports;
  return absl::OkStatus();
}

absl::Status DecodeClassifier(const NodeView& view, SvmView& svm) {
  const std::string& transform = view.String("post_transform");
  if (transform != "NONE" && transform != "LOGISTIC") {
    return view.Unimplemented(
        absl::StrCat("\"post_transform\" = \"", transform, "\" is not supported"));
  }
  svm.logistic = transform == "LOGISTIC";
  SLIPWAY_ASSIGN_OR_RETURN(svm.labels, DecodeClasses(view, "classlabels_ints"));
  const int64_t classes = std::ssize(svm.labels);
  if (classes < 2) return view.Error(absl::StrCat(classes, " classes, 2 are needed"));
  if (!view.has("vectors_per_class")) {
    return view.Unimplemented("classes without support vectors are not supported");
  }
  svm.vectors_per_class = view.Ints("vectors_per_class");
  SLIPWAY_RETURN_IF_ERROR(
      RequireCount(view, "vectors_per_class", std::ssize(svm.vectors_per_class), classes));
  const int64_t most = std::ssize(FloatsOrNone(view, "support_vectors"));
  int64_t supports = 0;
  for (const int64_t count : svm.vectors_per_class) {
    if (count < 0 || count > most - supports) {
      return view.Error(absl::StrCat("\"vectors_per_class\" holds ", count,
                                     ", \"support_vectors\" are of ", most, " numbers"));
    }
    supports += count;
  }
  SLIPWAY_RETURN_IF_ERROR(DecodeVectors(view, supports, svm));
  SLIPWAY_RETURN_IF_ERROR(
      RequireCount(view, "coefficients", std::ssize(svm.coefficients), (classes - 1) * supports));
  const int64_t pairs = classes * (classes - 1) / 2;
  SLIPWAY_RETURN_IF_ERROR(RequireCount(view, "rho", std::ssize(svm.rho), pairs));
  svm.prob_a = FloatsOrNone(view, "prob_a");
  svm.prob_b = FloatsOrNone(view, "prob_b");
  if (svm.prob_a.empty() && svm.prob_b.empty()) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(RequireCount(view, "prob_a", std::ssize(svm.prob_a), pairs));
  return RequireCount(view, "prob_b", std::ssize(svm.prob_b), pairs);
}

absl::Status DecodeRegressor(const NodeView& view, SvmView& svm) {
  if (view.String("post_transform") != "NONE") {
    return view.Unimplemented(absl::StrCat("\"post_transform\" = \"", view.String("post_transform"),
                                           "\" is not supported"));
  }
  SLIPWAY_RETURN_IF_ERROR(RequireCount(view, "rho", std::ssize(svm.rho), 1));
  svm.one_class = view.Int("one_class") != 0;
  if (view.Int("n_supports") > 0) {
    SLIPWAY_RETURN_IF_ERROR(DecodeVectors(view, view.Int("n_supports"), svm));
    return RequireCount(view, "coefficients", std::ssize(svm.coefficients), svm.supports());
  }
  // Without support vectors the coefficients are those of the features: the only vector, which counts once.
  if (svm.coefficients.empty()) return view.Error("\"coefficients\" is empty");
  svm.kernel = SvmKernel::kLinear;
  svm.features = std::ssize(svm.coefficients);
  svm.vectors = std::exchange(svm.coefficients, {1.0f});
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ValueType>> SvmType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, kNumbers));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1, 2));
  SLIPWAY_ASSIGN_OR_RETURN(const SvmView svm, DecodeSvm(view));
  const Dimensions x = DimensionsOf(view, 0);
  if (view.Differ(x.back(), svm.features)) {
    return view.Error(absl::StrCat("x has ", ToString(x.back()), " features, support vectors have ",
                                   svm.features));
  }
  const Dimension rows = x.size() == 2 ? x[0] : Dimension(1);
  if (!IsClassifier(view)) {
    return std::vector<ValueType>{ValueType(DataType::kFloat32, {rows, 1})};
  }
  const int64_t classes = std::ssize(svm.labels);
  const bool by_class = classes == 2 || !svm.prob_a.empty();
  return std::vector<ValueType>{
      ValueType(ClassType(view, "classlabels_ints"), {rows}),
      ValueType(DataType::kFloat32, {rows, by_class ? classes : std::ssize(svm.rho)})};
}

}  // namespace

absl::StatusOr<SvmView> DecodeSvm(const NodeView& view) {
  SvmView svm;
  svm.coefficients = FloatsOrNone(view, "coefficients");
  svm.rho = FloatsOrNone(view, "rho");
  SLIPWAY_RETURN_IF_ERROR(DecodeKernel(view, svm));
  SLIPWAY_RETURN_IF_ERROR(IsClassifier(view) ? DecodeClassifier(view, svm)
                                             : DecodeRegressor(view, svm));
  return svm;
}

absl::Status RegisterSvmOperators(OperatorRegistry& registry) {
  const auto floats = [](const char* name) {
    return AttributeSchema{name, AttributeKind::kFloats};
  };
  return AddAll(
      registry,
      {OpaqueSchema(
           "ai.onnx.ml.SVMClassifier", 1, SvmType,
           {IntsAttribute("classlabels_ints"),
            AttributeSchema{"classlabels_strings", AttributeKind::kStrings}, floats("coefficients"),
            floats("kernel_params"), StringAttribute("kernel_type", "LINEAR"),
            StringAttribute("post_transform", "NONE"), floats("prob_a"), floats("prob_b"),
            floats("rho"), floats("support_vectors"), IntsAttribute("vectors_per_class")},
           /*max_outputs=*/2),
       OpaqueSchema("ai.onnx.ml.SVMRegressor", 1, SvmType,
                    {floats("coefficients"), floats("kernel_params"),
                     StringAttribute("kernel_type", "LINEAR"), IntAttribute("n_supports", 0),
                     IntAttribute("one_class", 0), StringAttribute("post_transform", "NONE"),
                     floats("rho"), floats("support_vectors")})});
}

}  // namespace slipway
