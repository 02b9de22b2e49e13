#include "core/operators/checks.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tensor/float16.h"

namespace slipway {
namespace {

// function(value) with the one element of a tensor of numbers.
template <typename Function>
auto WithNumber(const Tensor& tensor, Function function) {
  switch (tensor.dtype()) {
    case DataType::kInt8:
      return function(tensor.values<int8_t>()[0]);
    case DataType::kInt16:
      return function(tensor.values<int16_t>()[0]);
    case DataType::kInt32:
      return function(tensor.values<int32_t>()[0]);
    case DataType::kInt64:
      return function(tensor.values<int64_t>()[0]);
    case DataType::kUint8:
      return function(tensor.values<uint8_t>()[0]);
    case DataType::kUint16:
      return function(tensor.values<uint16_t>()[0]);
    case DataType::kUint32:
      return function(tensor.values<uint32_t>()[0]);
    case DataType::kUint64:
      return function(tensor.values<uint64_t>()[0]);
    case DataType::kFloat32:
      return function(tensor.values<float>()[0]);
    case DataType::kFloat64:
      return function(tensor.values<double>()[0]);
    default: {
      uint16_t bits = 0;
      std::memcpy(&bits, tensor.bytes().data(), sizeof(bits));
      return function(tensor.dtype() == DataType::kFloat16 ? Float16ToFloat(bits)
                                                           : Bfloat16ToFloat(bits));
    }
  }
}

absl::Status CheckNumber(const NodeView& view, int input, absl::string_view what) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, input, TypeSet::kAnyNumeric));
  if (!view.Differ(NumElements(DimensionsOf(view, input)), 1)) return absl::OkStatus();
  return view.Error(absl::StrCat("the ", what, " (input ", input, ") must be one number, not ",
                                 ToString(view.input_type(input))));
}

absl::StatusOr<const Tensor*> ConstantNumber(const NodeView& view, int input,
                                             absl::string_view what) {
  SLIPWAY_RETURN_IF_ERROR(CheckNumber(view, input, what));
  return view.RequireConstant(input, what);
}

absl::Status CheckInts(const NodeView& view, int input, absl::string_view what) {
  const ValueType& type = view.input_type(input);
  if (type.rank() <= 1 && (type.dtype() == DataType::kInt64 || type.dtype() == DataType::kInt32)) {
    return absl::OkStatus();
  }
  return view.Error(absl::StrCat("the ", what, " (input ", input, ") must be a list of i64, not ",
                                 ToString(type)));
}

// Either is 1, or they are the same. Of two that are not known, none is 0 where the other is 1: their result is the larger.
void RequireBroadcast(const NodeView& view, const Dimension& a, const Dimension& b) {
  if (a == Dimension(1) || b == Dimension(1) || a.is_unknown() || b.is_unknown()) return;
  if (a.is_known() || b.is_known()) {
    view.DiffersFromAll(a.is_known() ? b : a, {a.is_known() ? a : b, 1});
  } else if (!SameExtent(a, b)) {
    std::vector<Equality> any_of = {{a.expression(), b.expression()}};
    const Dimension least = Min(a, b);
    if (!least.is_unknown()) any_of.push_back({least.expression(), 1});
    view.Require(std::move(any_of));
  }
}

absl::Status Unsupported(const NodeView& view, int input) {
  return view.Unimplemented(absl::StrCat(
      "input ", input, " of type ", Name(view.input_type(input).dtype()), " is not supported"));
}

}  // namespace

bool Contains(TypeSet set, DataType dtype) {
  switch (dtype) {
    case DataType::kFloat32:
    case DataType::kFloat64:
      return set != TypeSet::kInteger;
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return set != TypeSet::kFloat && set != TypeSet::kNumeric && set != TypeSet::kInteger;
    case DataType::kBool:
      return set == TypeSet::kNumberOrBool || set == TypeSet::kSized;
    case DataType::kUint8:
    case DataType::kInt8:
    case DataType::kUint16:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64:
    case DataType::kUint32:
    case DataType::kUint64:
      return set != TypeSet::kFloat && set != TypeSet::kAnyFloat;
    default:
      return set == TypeSet::kSized && ByteSize(dtype) > 0;
  }
}

absl::Status CheckDtype(const NodeView& view, int input, TypeSet set) {
  const DataType dtype = view.input_type(input).dtype();
  const bool is_moved =
      set == TypeSet::kSized && dtype == DataType::kString && view.schema().moves_elements;
  return is_moved || Contains(set, dtype) ? absl::OkStatus() : Unsupported(view, input);
}

absl::Status CheckDtype(const NodeView& view, int input, absl::Span<const DataType> allowed) {
  const DataType dtype = view.input_type(input).dtype();
  const bool found = std::find(allowed.begin(), allowed.end(), dtype) != allowed.end();
  return found ? absl::OkStatus() : Unsupported(view, input);
}

absl::Status CheckSameDtypes(const NodeView& view) {
  for (int i = 1; i < view.num_inputs(); ++i) {
    if (!view.has_input(i) || view.input_type(i).dtype() == view.input_type(0).dtype()) continue;
    return view.Error(absl::StrCat("input ", i, " is of type ", Name(view.input_type(i).dtype()),
                                   " and input 0 of type ", Name(view.input_type(0).dtype())));
  }
  return absl::OkStatus();
}

absl::Status CheckIndices(const NodeView& view, int input) {
  const DataType dtype = view.input_type(input).dtype();
  if (dtype == DataType::kInt64 || dtype == DataType::kInt32) return absl::OkStatus();
  return view.Error(
      absl::StrCat("indices (input ", input, ") are of type ", Name(dtype), ", not i32 or i64"));
}

absl::Status CheckRank(const NodeView& view, int input, int min, int max) {
  const int rank = view.input_type(input).rank();
  if (rank >= min && rank <= max) return absl::OkStatus();
  const std::string wanted = min == max        ? absl::StrCat(min)
                             : max == kMaxRank ? absl::StrCat("at least ", min)
                                               : absl::StrCat(min, " to ", max);
  return view.Error(absl::StrCat("input ", input, " has the shape ",
                                 ToString(view.input_type(input).dimensions()), " where rank ",
                                 wanted, " is needed"));
}

absl::StatusOr<int64_t> NormalizeAxis(const NodeView& view, int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  return view.Error(
      absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank, ") for rank ", rank));
}

absl::StatusOr<std::vector<int64_t>> NormalizeAxes(const NodeView& view,
                                                   const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<int64_t> normal;
  for (const int64_t axis : axes) {
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t one, NormalizeAxis(view, axis, rank));
    normal.push_back(one);
  }
  std::sort(normal.begin(), normal.end());
  const auto twice = std::adjacent_find(normal.begin(), normal.end());
  if (twice != normal.end()) return view.Error(absl::StrCat("axis ", *twice, " is there twice"));
  return normal;
}

absl::StatusOr<Dimension> KnownWhole(const NodeView& view, int input, absl::string_view what) {
  if (view.constant(input) != nullptr) return ConstantWhole(view, input, what);
  SLIPWAY_RETURN_IF_ERROR(CheckNumber(view, input, what));
  const std::optional<Dimensions> contents = view.contents(input);
  return contents.has_value() && contents->size() == 1 ? contents->front() : Dimension();
}

Dimensions DimensionsOf(const NodeView& view, int input, size_t first, size_t count) {
  const Dimensions all = view.input_type(input).dimensions();
  const auto begin = all.begin() + std::min(first, all.size());
  return Dimensions(begin, begin + std::min<size_t>(count, all.end() - begin));
}

Dimension OrZero(const NodeView& view, const Dimension& extent) {
  return view.IsNeverNegative(extent) ? extent : Max(extent, 0);
}

absl::StatusOr<Dimensions> BroadcastInputs(const NodeView& view, absl::Span<const Dimension> a,
                                           absl::Span<const Dimension> b) {
  auto both = Broadcast(a, b);
  if (!both.ok()) return view.Annotated(both.status());
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    RequireBroadcast(view, a[a.size() - i], b[b.size() - i]);
  }
  return both;
}

absl::StatusOr<Dimensions> BroadcastAllInputs(const NodeView& view) {
  Dimensions dimensions = DimensionsOf(view, 0);
  for (int i = 1; i < view.num_inputs(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(dimensions,
                             BroadcastInputs(view, dimensions, view.input_type(i).dimensions()));
  }
  return dimensions;
}

bool Divides(const NodeView& view, const Dimension& part, const Dimension& whole) {
  if (part.is_known() && part.extent() < 1) return false;
  if (part.is_known() && whole.is_known()) return whole.extent() % part.extent() == 0;
  const Dimension divisor = part.is_known() ? part : Max(part, 1);
  return !view.Differ(FloorDivide(whole, divisor) * part, whole);
}

std::vector<int64_t> KnownExtents(absl::Span<const Dimension> dimensions) {
  std::vector<int64_t> extents;
  for (const Dimension& dimension : dimensions) extents.push_back(dimension.extent());
  return extents;
}

absl::StatusOr<Dimensions> KnownInts(const NodeView& view, int input, absl::string_view what) {
  SLIPWAY_RETURN_IF_ERROR(CheckInts(view, input, what));
  std::optional<Dimensions> contents = view.contents(input);
  if (contents.has_value()) return *std::move(contents);
  return view.RequireConstant(input, what).status();
}

absl::StatusOr<std::vector<int64_t>> ConstantInts(const NodeView& view, int input,
                                                  absl::string_view what) {
  SLIPWAY_RETURN_IF_ERROR(CheckInts(view, input, what));
  const ValueType& type = view.input_type(input);
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor* tensor, view.RequireConstant(input, what));
  if (type.dtype() == DataType::kInt64) {
    const auto values = tensor->values<int64_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  }
  const auto values = tensor->values<int32_t>();
  return std::vector<int64_t>(values.begin(), values.end());
}

absl::StatusOr<double> ConstantReal(const NodeView& view, int input, absl::string_view what) {
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor* tensor, ConstantNumber(view, input, what));
  return WithNumber(*tensor, [](auto value) { return static_cast<double>(value); });
}

absl::StatusOr<int64_t> ConstantWhole(const NodeView& view, int input, absl::string_view what) {
  SLIPWAY_ASSIGN_OR_RETURN(const Tensor* tensor, ConstantNumber(view, input, what));
  // What is not below 2^63, in either direction, is no i64; neither is NaN.
  constexpr double kEnd = 9223372036854775808.0;
  const bool fits = WithNumber(*tensor, [](auto value) {
    if constexpr (std::is_integral_v<decltype(value)>) return std::in_range<int64_t>(value);
    return static_cast<double>(value) >= -kEnd && static_cast<double>(value) < kEnd;
  });
  if (!fits) return view.Error(absl::StrCat("the ", what, " (input ", input, ") is no i64"));
  return WithNumber(*tensor, [](auto value) { return static_cast<int64_t>(value); });
}

OperatorSchema Knowing(OperatorSchema schema, ContentsRule rule) {
  schema.contents_rule = std::move(rule);
  return schema;
}

OperatorSchema Moving(OperatorSchema schema) {
  schema.moves_elements = true;
  return schema;
}

OperatorSchema OpaqueSchema(absl::string_view name, Arity inputs, TypeRule rule,
                            std::vector<AttributeSchema> attributes, int max_outputs) {
  OperatorSchema schema;
  schema.name = std::string(name);
  schema.min_inputs = inputs.min;
  schema.max_inputs = inputs.max;
  schema.max_outputs = max_outputs;
  schema.type_rule = std::move(rule);
  schema.attributes = std::move(attributes);
  return schema;
}

OperatorSchema ElementwiseSchema(absl::string_view name, Arity inputs, TypeRule rule,
                                 std::vector<AttributeSchema> attributes) {
  OperatorSchema schema = OpaqueSchema(name, inputs, std::move(rule), std::move(attributes));
  schema.pattern = inputs.max == 1 ? Pattern::kElementwise : Pattern::kBroadcast;
  schema.layout.role = LayoutRole::kElementwise;
  return schema;
}

absl::Status AddAll(OperatorRegistry& registry, absl::Span<const OperatorSchema> schemas) {
  for (const OperatorSchema& schema : schemas) SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  return absl::OkStatus();
}

AttributeSchema IntAttribute(absl::string_view name, std::optional<int64_t> default_value) {
  AttributeSchema schema{std::string(name), AttributeKind::kInt};
  if (default_value.has_value()) schema.default_value = Attribute(*default_value);
  return schema;
}

AttributeSchema FloatAttribute(absl::string_view name, std::optional<float> default_value) {
  AttributeSchema schema{std::string(name), AttributeKind::kFloat};
  if (default_value.has_value()) schema.default_value = Attribute(*default_value);
  return schema;
}

AttributeSchema StringAttribute(absl::string_view name, std::optional<std::string> default_value) {
  AttributeSchema schema{std::string(name), AttributeKind::kString};
  if (default_value.has_value()) schema.default_value = Attribute(*default_value);
  return schema;
}

AttributeSchema IntsAttribute(absl::string_view name) {
  return AttributeSchema{std::string(name), AttributeKind::kInts};
}

AttributeSchema Required(AttributeSchema attribute) {
  attribute.required = true;
  return attribute;
}

}  // namespace slipway
