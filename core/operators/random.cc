#include "core/operators/random.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

constexpr DataType kReals[] = {DataType::kFloat32, DataType::kFloat64, DataType::kFloat16,
                               DataType::kBfloat16};
constexpr DataType kIndices[] = {DataType::kInt32, DataType::kInt64};
constexpr DataType kNumbers[] = {DataType::kFloat32,  DataType::kFloat64, DataType::kFloat16,
                                 DataType::kBfloat16, DataType::kInt8,    DataType::kInt16,
                                 DataType::kInt32,    DataType::kInt64,   DataType::kUint8,
                                 DataType::kUint16,   DataType::kUint32,  DataType::kUint64,
                                 DataType::kBool};

// The attribute "dtype", or else the type of input 0.
absl::StatusOr<DataType> OutputType(const NodeView& view, absl::Span<const DataType> allowed) {
  DataType dtype = DataType::kInvalid;
  if (view.has("dtype")) {
    const auto given = DataTypeFromNumber(view.Int("dtype"));
    if (!given.ok()) return view.Annotated(given.status());
    dtype = *given;
  } else {
    dtype = view.input_type(0).dtype();
  }
  for (const DataType one : allowed) {
    if (one == dtype) return dtype;
  }
  return view.Error(absl::StrCat("numbers of type ", Name(dtype), " are not made by it"));
}

absl::StatusOr<std::vector<ValueType>> RandomType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const DataType dtype, OutputType(view, kReals));
  if (view.num_inputs() > 0) return std::vector<ValueType>{ValueType(dtype, DimensionsOf(view, 0))};
  for (const int64_t extent : view.Ints("shape")) {
    if (extent < 0) return view.Error(absl::StrCat("\"shape\" holds ", extent));
  }
  return std::vector<ValueType>{ValueType(dtype, ToDimensions(view.Ints("shape")))};
}

absl::StatusOr<std::vector<ValueType>> BernoulliType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, kReals));
  SLIPWAY_ASSIGN_OR_RETURN(const DataType dtype, OutputType(view, kNumbers));
  return std::vector<ValueType>{ValueType(dtype, DimensionsOf(view, 0))};
}

absl::StatusOr<std::vector<ValueType>> MultinomialType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, kReals));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2, 2));
  SLIPWAY_ASSIGN_OR_RETURN(const DataType dtype, OutputType(view, kIndices));
  const int64_t samples = view.Int("sample_size");
  if (samples < 0) return view.Error(absl::StrCat("\"sample_size\" is ", samples));
  return std::vector<ValueType>{ValueType(dtype, {view.input_type(0).dimension(0), samples})};
}

}  // namespace

uint64_t RandomSeed(const NodeView& view) {
  if (view.has("seed")) {
    const float seed = view.Float("seed");
    const bool is_whole = seed >= 0 && seed < 0x1p32f && seed == std::floor(seed);
    return is_whole ? static_cast<uint32_t>(seed) : absl::bit_cast<uint32_t>(seed);
  }
  // FNV-1a.
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : view.display_name()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash ^ (hash >> 32);
}

absl::Status RegisterRandomOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.random = true;
  const AttributeSchema seed = FloatAttribute("seed", std::nullopt);
  const AttributeSchema dtype = IntAttribute("dtype", std::nullopt);
  schema.name = "Bernoulli";
  schema.type_rule = BernoulliType;
  schema.attributes = {dtype, seed};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.name = "Multinomial";
  schema.type_rule = MultinomialType;
  schema.attributes = {IntAttribute("dtype", 6), IntAttribute("sample_size", 1), seed};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.type_rule = RandomType;
  const std::vector<AttributeSchema> normal = {FloatAttribute("mean", 0),
                                               FloatAttribute("scale", 1), seed};
  const std::vector<AttributeSchema> uniform = {FloatAttribute("high", 1), FloatAttribute("low", 0),
                                                seed};
  schema.name = "RandomNormalLike";
  schema.attributes = normal;
  schema.attributes.push_back(dtype);
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  schema.name = "RandomUniformLike";
  schema.attributes = uniform;
  schema.attributes.push_back(dtype);
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  AttributeSchema shape = IntsAttribute("shape");
  shape.required = true;
  schema.min_inputs = schema.max_inputs = 0;
  schema.name = "RandomNormal";
  schema.attributes = normal;
  schema.attributes.push_back(IntAttribute("dtype", 1));
  schema.attributes.push_back(shape);
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  schema.name = "RandomUniform";
  schema.attributes = uniform;
  schema.attributes.push_back(IntAttribute("dtype", 1));
  schema.attributes.push_back(shape);
  return registry.Add(schema);
}

}  // namespace slipway
