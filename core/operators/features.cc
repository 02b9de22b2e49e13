#include "core/operators/features.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

constexpr DataType kNumbers[] = {DataType::kFloat32, DataType::kFloat64, DataType::kInt64,
                                 DataType::kInt32};
constexpr DataType kLabels[] = {DataType::kInt64, DataType::kFloat32, DataType::kInt32,
                                DataType::kInt16, DataType::kFloat64};

constexpr int64_t kMaxColumns = int64_t{1} << 31;

bool IsInteger(DataType dtype) {
  return dtype == DataType::kInt64 || dtype == DataType::kInt32 || dtype == DataType::kInt16;
}

Label Integer(int64_t value) { return {value, static_cast<double>(value)}; }
Label Real(double value) { return {0, value}; }

template <typename T>
std::vector<Label> LabelsIn(const Tensor& tensor) {
  std::vector<Label> labels;
  for (const T value : tensor.values<T>()) {
    labels.push_back(IsInteger(tensor.dtype()) ? Integer(static_cast<int64_t>(value))
                                               : Real(static_cast<double>(value)));
  }
  return labels;
}

absl::StatusOr<std::vector<Label>> LabelsOf(const NodeView& view, const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DataType::kInt64:
      return LabelsIn<int64_t>(tensor);
    case DataType::kInt32:
      return LabelsIn<int32_t>(tensor);
    case DataType::kInt16:
      return LabelsIn<int16_t>(tensor);
    case DataType::kFloat32:
      return LabelsIn<float>(tensor);
    case DataType::kFloat64:
      return LabelsIn<double>(tensor);
    default:
      return view.Unimplemented(
          absl::StrCat("labels of type ", Name(tensor.dtype()), " are not supported"));
  }
}

struct LabelList {
  DataType dtype = DataType::kInvalid;
  std::vector<Label> labels;
};

// The list that one of the attributes PREFIX_int64s, PREFIX_floats and PREFIX_tensor is.
absl::StatusOr<LabelList> DecodeList(const NodeView& view, const std::string& prefix) {
  LabelList list;
  if (view.has(prefix + "_strings")) {
    return view.Unimplemented(absl::StrCat("\"", prefix, "_strings\" is not supported"));
  }
  if (view.has(prefix + "_int64s")) {
    list.dtype = DataType::kInt64;
    for (const int64_t value : view.Ints(prefix + "_int64s")) list.labels.push_back(Integer(value));
  } else if (view.has(prefix + "_floats")) {
    list.dtype = DataType::kFloat32;
    for (const float value : view.Floats(prefix + "_floats")) list.labels.push_back(Real(value));
  } else if (view.has(prefix + "_tensor")) {
    const Tensor& tensor = view.TensorValue(prefix + "_tensor");
    list.dtype = tensor.dtype();
    SLIPWAY_ASSIGN_OR_RETURN(list.labels, LabelsOf(view, tensor));
  } else {
    return view.Error(absl::StrCat("no attribute \"", prefix, "_...\" is given"));
  }
  return list;
}

absl::StatusOr<std::vector<ValueType>> LabelEncoderType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const LabelEncoderView encoder, DecodeLabelEncoder(view));
  return std::vector<ValueType>{ValueType(encoder.output, DimensionsOf(view, 0))};
}

// A list has one entry, or one for each index of the last dimension.
absl::Status CheckPerFeature(const NodeView& view, absl::string_view name, size_t count) {
  const ValueType& x = view.input_type(0);
  if (count == 1) return absl::OkStatus();
  if (x.rank() > 0 && !Contradict(x.dimension(x.rank() - 1), static_cast<int64_t>(count))) {
    return absl::OkStatus();
  }
  return view.Error(absl::StrCat("\"", name, "\" has ", count, " entries for x of shape ",
                                 ToString(DimensionsOf(view, 0))));
}

absl::StatusOr<std::vector<ValueType>> ImputerType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeImputer(view).status());
  return std::vector<ValueType>{view.input_type(0)};
}

absl::StatusOr<std::vector<ValueType>> NormalizerType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, kNumbers));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1, 2));
  SLIPWAY_RETURN_IF_ERROR(DecodeRowNorm(view).status());
  return std::vector<ValueType>{ValueType(DataType::kFloat32, DimensionsOf(view, 0))};
}

absl::StatusOr<std::vector<ValueType>> OneHotType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, kNumbers));
  if (!view.has("cats_int64s")) {
    return view.Unimplemented("categories other than \"cats_int64s\" are not supported");
  }
  Dimensions y = DimensionsOf(view, 0);
  y.push_back(static_cast<int64_t>(view.Ints("cats_int64s").size()));
  return std::vector<ValueType>{ValueType(DataType::kFloat32, y)};
}

absl::StatusOr<std::vector<ValueType>> TfIdfType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, {DataType::kInt32, DataType::kInt64}));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1, 2));
  SLIPWAY_ASSIGN_OR_RETURN(const GramsView grams, DecodeGrams(view));
  Dimensions y = DimensionsOf(view, 0);
  y.back() = grams.columns;
  return std::vector<ValueType>{ValueType(DataType::kFloat32, y)};
}

// The grams of one length, which lie in [begin, end) of the pool. `number` counts all of them.
absl::StatusOr<std::vector<Gram>> DecodeGramsOf(const NodeView& view, int64_t length, int64_t begin,
                                                int64_t end, size_t& number) {
  const std::vector<int64_t>& pool = view.Ints("pool_int64s");
  const std::vector<int64_t>& columns = view.Ints("ngram_indexes");
  if (begin < 0 || end < begin || end > std::ssize(pool) || (end - begin) % length != 0) {
    return view.Error(absl::StrCat("grams of length ", length, " cannot lie in [", begin, ", ", end,
                                   ") of a pool of ", pool.size()));
  }
  std::vector<Gram> grams;
  for (int64_t at = begin; at < end; at += length, ++number) {
    if (number >= columns.size()) return view.Error("there are more grams than \"ngram_indexes\"");
    Gram& gram = grams.emplace_back();
    gram.items.assign(pool.begin() + at, pool.begin() + at + length);
    gram.column = columns[number];
    if (view.has("weights")) gram.weight = view.Floats("weights")[number];
  }
  const auto before = [](const Gram& a, const Gram& b) { return a.items < b.items; };
  const auto equal = [](const Gram& a, const Gram& b) { return a.items == b.items; };
  std::sort(grams.begin(), grams.end(), before);
  if (std::adjacent_find(grams.begin(), grams.end(), equal) != grams.end()) {
    return view.Error(absl::StrCat("a gram of length ", length, " is there twice"));
  }
  return grams;
}

absl::StatusOr<std::vector<ValueType>> ExtractorType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, kNumbers));
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 1, {DataType::kInt64}));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  Dimensions y = DimensionsOf(view, 0);
  y.back() = NumElements(DimensionsOf(view, 1));
  if (y.size() == 1) y.insert(y.begin(), 1);
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

}  // namespace

absl::StatusOr<LabelEncoderView> DecodeLabelEncoder(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, kLabels));
  SLIPWAY_ASSIGN_OR_RETURN(const LabelList keys, DecodeList(view, "keys"));
  SLIPWAY_ASSIGN_OR_RETURN(const LabelList values, DecodeList(view, "values"));
  if (keys.dtype != view.input_type(0).dtype()) {
    return view.Error(absl::StrCat("the keys are of type ", Name(keys.dtype), ", x of type ",
                                   Name(view.input_type(0).dtype())));
  }
  if (keys.labels.size() != values.labels.size()) {
    return view.Error(
        absl::StrCat(keys.labels.size(), " keys and ", values.labels.size(), " values do not fit"));
  }
  LabelEncoderView encoder = {values.dtype, keys.labels, values.labels, {}};
  if (view.has("default_tensor")) {
    const Tensor& tensor = view.TensorValue("default_tensor");
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Label> labels, LabelsOf(view, tensor));
    if (labels.size() != 1 || tensor.dtype() != values.dtype) {
      return view.Error(absl::StrCat("\"default_tensor\" is ", ToString(tensor.type()),
                                     ", not one ", Name(values.dtype)));
    }
    encoder.otherwise = labels[0];
  } else if (IsInteger(values.dtype)) {
    encoder.otherwise = Integer(view.Int("default_int64"));
  } else {
    encoder.otherwise = Real(view.Float("default_float"));
  }
  return encoder;
}

absl::StatusOr<ImputerView> DecodeImputer(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, kNumbers));
  const bool is_integer = IsInteger(view.input_type(0).dtype());
  const char* name = is_integer ? "imputed_value_int64s" : "imputed_value_floats";
  ImputerView imputer;
  if (!view.has(name)) return view.Error(absl::StrCat("\"", name, "\" is missing"));
  if (is_integer) {
    imputer.replaced = Integer(view.Int("replaced_value_int64"));
    for (const int64_t value : view.Ints(name)) imputer.values.push_back(Integer(value));
  } else {
    imputer.replaced = Real(view.Float("replaced_value_float"));
    for (const float value : view.Floats(name)) imputer.values.push_back(Real(value));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckPerFeature(view, name, imputer.values.size()));
  return imputer;
}

absl::StatusOr<GramsView> DecodeGrams(const NodeView& view) {
  if (!view.has("pool_int64s")) return view.Unimplemented("a pool of strings is not supported");
  GramsView grams;
  const std::string& mode = view.String("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
    return view.Error(absl::StrCat("\"mode\" is \"", mode, "\", not TF, IDF or TFIDF"));
  }
  grams.mode = mode == "TF"    ? GramMode::kCount
               : mode == "IDF" ? GramMode::kWeight
                               : GramMode::kWeightedCount;
  grams.min_length = view.Int("min_gram_length");
  grams.max_length = view.Int("max_gram_length");
  grams.max_skip = view.Int("max_skip_count");
  const std::vector<int64_t>& starts = view.Ints("ngram_counts");
  const std::vector<int64_t>& columns = view.Ints("ngram_indexes");
  if (grams.min_length < 1 || grams.max_length < grams.min_length ||
      grams.max_length > std::ssize(starts) || grams.max_skip < 0 ||
      grams.max_skip >= kMaxColumns) {
    return view.Error(absl::StrCat("lengths from ", grams.min_length, " to ", grams.max_length,
                                   " with ", grams.max_skip, " skipped, and \"ngram_counts\" of ",
                                   starts.size()));
  }
  if (view.has("weights") && view.Floats("weights").size() != columns.size()) {
    return view.Error(absl::StrCat(view.Floats("weights").size(), " weights for ", columns.size(),
                                   " \"ngram_indexes\""));
  }
  size_t number = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t end =
        i + 1 < starts.size() ? starts[i + 1] : std::ssize(view.Ints("pool_int64s"));
    SLIPWAY_ASSIGN_OR_RETURN(
        std::vector<Gram> of_length,
        DecodeGramsOf(view, static_cast<int64_t>(i) + 1, starts[i], end, number));
    grams.by_length.push_back(std::move(of_length));
  }
  for (const int64_t column : columns) {
    if (column < 0 || column >= kMaxColumns) {
      return view.Error(absl::StrCat("\"ngram_indexes\" holds ", column));
    }
    grams.columns = std::max(grams.columns, column + 1);
  }
  return grams;
}

absl::StatusOr<RowNorm> DecodeRowNorm(const NodeView& view) {
  const std::string& norm = view.String("norm");
  if (norm == "MAX") return RowNorm::kMax;
  if (norm == "L1") return RowNorm::kSum;
  if (norm == "L2") return RowNorm::kEuclid;
  return view.Error(absl::StrCat("\"norm\" is \"", norm, "\", not MAX, L1 or L2"));
}

absl::Status RegisterFeaturesOperators(OperatorRegistry& registry) {
  const auto floats = [](const char* name) {
    return AttributeSchema{name, AttributeKind::kFloats};
  };
  const auto strings = [](const char* name) {
    return AttributeSchema{name, AttributeKind::kStrings};
  };
  const auto tensor = [](const char* name) {
    return AttributeSchema{name, AttributeKind::kTensor};
  };
  return AddAll(
      registry,
      {OpaqueSchema("ai.onnx.ml.ArrayFeatureExtractor", 2, ExtractorType),
       OpaqueSchema(
           "ai.onnx.ml.Imputer", 1, ImputerType,
           {floats("imputed_value_floats"), IntsAttribute("imputed_value_int64s"),
            FloatAttribute("replaced_value_float", 0), IntAttribute("replaced_value_int64", 0)}),
       OpaqueSchema("ai.onnx.ml.LabelEncoder", 1, LabelEncoderType,
                    {FloatAttribute("default_float", -0.0f), IntAttribute("default_int64", -1),
                     StringAttribute("default_string", "_Unused"), tensor("default_tensor"),
                     floats("keys_floats"), IntsAttribute("keys_int64s"), strings("keys_strings"),
                     tensor("keys_tensor"), floats("values_floats"), IntsAttribute("values_int64s"),
                     strings("values_strings"), tensor("values_tensor")}),
       OpaqueSchema("ai.onnx.ml.Normalizer", 1, NormalizerType, {StringAttribute("norm", "MAX")}),
       OpaqueSchema(
           "ai.onnx.ml.OneHotEncoder", 1, OneHotType,
           {IntsAttribute("cats_int64s"), strings("cats_strings"), IntAttribute("zeros", 1)}),
       OpaqueSchema(
           "TfIdfVectorizer", 1, TfIdfType,
           {Required(IntAttribute("max_gram_length", std::nullopt)),
            Required(IntAttribute("max_skip_count", std::nullopt)),
            Required(IntAttribute("min_gram_length", std::nullopt)),
            Required(StringAttribute("mode", std::nullopt)),
            Required(IntsAttribute("ngram_counts")), Required(IntsAttribute("ngram_indexes")),
            IntsAttribute("pool_int64s"), strings("pool_strings"), floats("weights")})});
}

}  // namespace slipway
