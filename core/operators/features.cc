#include "core/operators/features.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/tensor/strings.h"

namespace slipway {
namespace {

constexpr DataType kNumbers[] = {DataType::kFloat32, DataType::kFloat64, DataType::kInt64,
                                 DataType::kInt32};
constexpr DataType kLabels[] = {DataType::kInt64, DataType::kFloat32, DataType::kInt32,
                                DataType::kInt16, DataType::kFloat64, DataType::kString};

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

absl::StatusOr<LabelList> LabelsOf(const NodeView& view, const Tensor& tensor) {
  LabelList list;
  list.dtype = tensor.dtype();
  switch (tensor.dtype()) {
    case DataType::kInt64:
      list.numbers = LabelsIn<int64_t>(tensor);
      break;
    case DataType::kInt32:
      list.numbers = LabelsIn<int32_t>(tensor);
      break;
    case DataType::kInt16:
      list.numbers = LabelsIn<int16_t>(tensor);
      break;
    case DataType::kFloat32:
      list.numbers = LabelsIn<float>(tensor);
      break;
    case DataType::kFloat64:
      list.numbers = LabelsIn<double>(tensor);
      break;
    case DataType::kString:
      for (const absl::string_view string : StringsIn(tensor)) list.strings.emplace_back(string);
      break;
    default:
      return view.Unimplemented(
          absl::StrCat("labels of type ", Name(tensor.dtype()), " are not supported"));
  }
  return list;
}

// The list that one of the attributes PREFIX_int64s, PREFIX_floats, PREFIX_strings and PREFIX_tensor is.
absl::StatusOr<LabelList> DecodeList(const NodeView& view, const std::string& prefix) {
  LabelList list;
  if (view.has(prefix + "_strings")) {
    list.dtype = DataType::kString;
    list.strings = view.Strings(prefix + "_strings");
  } else if (view.has(prefix + "_int64s")) {
    list.dtype = DataType::kInt64;
    for (const int64_t value : view.Ints(prefix + "_int64s")) {
      list.numbers.push_back(Integer(value));
    }
  } else if (view.has(prefix + "_floats")) {
    list.dtype = DataType::kFloat32;
    for (const float value : view.Floats(prefix + "_floats")) list.numbers.push_back(Real(value));
  } else if (view.has(prefix + "_tensor")) {
    return LabelsOf(view, view.TensorValue(prefix + "_tensor"));
  } else {
    return view.Error(absl::StrCat("no attribute \"", prefix, "_...\" is given"));
  }
  return list;
}

// The value of what is no key.
absl::StatusOr<LabelList> DecodeDefault(const NodeView& view, DataType dtype) {
  if (view.has("default_tensor")) {
    const Tensor& tensor = view.TensorValue("default_tensor");
    if (tensor.num_elements() != 1 || tensor.dtype() != dtype) {
      return view.Error(absl::StrCat("\"default_tensor\" is ", ToString(tensor.type()),
                                     ", not one ", Name(dtype)));
    }
    return LabelsOf(view, tensor);
  }
  LabelList list;
  list.dtype = dtype;
  if (dtype == DataType::kString) {
    list.strings = {view.String("default_string")};
  } else {
    list.numbers = {IsInteger(dtype) ? Integer(view.Int("default_int64"))
                                     : Real(view.Float("default_float"))};
  }
  return list;
}

template <typename T>
Tensor TensorOf(const LabelList& list) {
  std::vector<T> values;
  for (const Label& label : list.numbers) {
    values.push_back(IsInteger(list.dtype) ? static_cast<T>(label.integer)
                                           : static_cast<T>(label.real));
  }
  return Tensor::Of<T>({static_cast<int64_t>(values.size())}, values);
}

absl::StatusOr<std::vector<ValueType>> LabelEncoderType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const LabelEncoderView encoder, DecodeLabelEncoder(view));
  return std::vector<ValueType>{ValueType(encoder.values.dtype, DimensionsOf(view, 0))};
}

// A list has one entry, or one for each index of the last dimension.
absl::Status CheckPerFeature(const NodeView& view, absl::string_view name, size_t count) {
  const ValueType& x = view.input_type(0);
  if (count == 1) return absl::OkStatus();
  if (x.rank() > 0 && !view.Differ(x.dimension(x.rank() - 1), static_cast<int64_t>(count))) {
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
  const bool is_string = view.input_type(0).dtype() == DataType::kString;
  if (!is_string) SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, kNumbers));
  const char* categories = is_string ? "cats_strings" : "cats_int64s";
  if (!view.has(categories)) return view.Error(absl::StrCat("\"", categories, "\" is missing"));
  Dimensions y = DimensionsOf(view, 0);
  y.push_back(static_cast<int64_t>(is_string ? view.Strings(categories).size()
                                             : view.Ints(categories).size()));
  return std::vector<ValueType>{ValueType(DataType::kFloat32, y)};
}

absl::StatusOr<std::vector<ValueType>> TfIdfType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(
      CheckDtype(view, 0, {DataType::kInt32, DataType::kInt64, DataType::kString}));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1, 2));
  SLIPWAY_ASSIGN_OR_RETURN(const GramsView grams, DecodeGrams(view));
  Dimensions y = DimensionsOf(view, 0);
  y.back() = grams.columns;
  return std::vector<ValueType>{ValueType(DataType::kFloat32, y)};
}

// The grams of one length, which lie in [begin, end) of the pool. `number` counts all of them.
absl::StatusOr<std::vector<Gram>> DecodeGramsOf(const NodeView& view,
                                                const std::vector<int64_t>& pool, int64_t length,
                                                int64_t begin, int64_t end, size_t& number) {
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

absl::StatusOr<Tensor> ToTensor(const LabelList& list) {
  switch (list.dtype) {
    case DataType::kInt64:
      return TensorOf<int64_t>(list);
    case DataType::kInt32:
      return TensorOf<int32_t>(list);
    case DataType::kInt16:
      return TensorOf<int16_t>(list);
    case DataType::kFloat32:
      return TensorOf<float>(list);
    case DataType::kFloat64:
      return TensorOf<double>(list);
    default:
      return absl::InternalError("labels are no numbers");
  }
}

absl::StatusOr<LabelEncoderView> DecodeLabelEncoder(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, kLabels));
  LabelEncoderView encoder;
  SLIPWAY_ASSIGN_OR_RETURN(encoder.keys, DecodeList(view, "keys"));
  SLIPWAY_ASSIGN_OR_RETURN(encoder.values, DecodeList(view, "values"));
  SLIPWAY_ASSIGN_OR_RETURN(encoder.otherwise, DecodeDefault(view, encoder.values.dtype));
  if (encoder.keys.dtype != view.input_type(0).dtype()) {
    return view.Error(absl::StrCat("the keys are of type ", Name(encoder.keys.dtype),
                                   ", x of type ", Name(view.input_type(0).dtype())));
  }
  if (encoder.keys.size() != encoder.values.size()) {
    return view.Error(absl::StrCat(encoder.keys.size(), " keys and ", encoder.values.size(),
                                   " values do not fit"));
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
  const bool is_string = view.input_type(0).dtype() == DataType::kString;
  const char* name = is_string ? "pool_strings" : "pool_int64s";
  if (!view.has(name)) return view.Error(absl::StrCat("\"", name, "\" is missing"));
  const std::vector<int64_t> pool = is_string ? NumberedPool(view.Strings(name)) : view.Ints(name);
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
    const int64_t end = i + 1 < starts.size() ? starts[i + 1] : std::ssize(pool);
    SLIPWAY_ASSIGN_OR_RETURN(
        std::vector<Gram> of_length,
        DecodeGramsOf(view, pool, static_cast<int64_t>(i) + 1, starts[i], end, number));
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

std::vector<int64_t> NumberedPool(const std::vector<std::string>& pool) {
  absl::flat_hash_map<absl::string_view, int64_t> last;
  for (size_t i = 0; i < pool.size(); ++i) last[pool[i]] = static_cast<int64_t>(i);
  std::vector<int64_t> numbers;
  for (const std::string& string : pool) numbers.push_back(last[string]);
  return numbers;
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
