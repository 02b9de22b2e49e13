#include "core/operators/quantization.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

constexpr DataType kQuantized[] = {
    DataType::kInt8,           DataType::kUint8,      DataType::kInt16,
    DataType::kUint16,         DataType::kInt4,       DataType::kUint4,
    DataType::kInt2,           DataType::kUint2,      DataType::kFloat8E4M3Fn,
    DataType::kFloat8E4M3FnUz, DataType::kFloat8E5M2, DataType::kFloat8E5M2FnUz,
    DataType::kFloat6E2M3,     DataType::kFloat6E3M2, DataType::kFloat4E2M1,
    DataType::kInt32};  // DequantizeLinear alone takes this last one.
constexpr absl::Span<const DataType> kStored = kQuantized;
constexpr DataType kReals[] = {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16};
constexpr DataType kScaledReals[] = {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16,
                                     DataType::kInt32};
constexpr DataType kScales[] = {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16,
                                DataType::kFloat8E8M0,
                                DataType::kInt32};  // QuantizeLinear alone takes this last one.

absl::StatusOr<DataType> TypeAttribute(const NodeView& view, absl::string_view name,
                                       absl::Span<const DataType> allowed) {
  const auto dtype = DataTypeFromNumber(view.Int(name));
  if (!dtype.ok()) return view.Annotated(dtype.status());
  for (const DataType one : allowed) {
    if (one == *dtype) return one;
  }
  return view.Error(absl::StrCat("\"", name, "\" is ", Name(*dtype), ", which it cannot be"));
}

// The granularity that the shape of the scale says.
absl::Status DecodeGranularity(const NodeView& view, QuantizationView& quantization) {
  const Dimensions x = DimensionsOf(view, 0);
  const Dimensions scale = DimensionsOf(view, 1);
  const auto is_one = [](const Dimensions& shape) {
    return shape.empty() || (shape.size() == 1 && SameExtent(shape[0], 1));
  };
  if (view.has_input(2) && !(is_one(DimensionsOf(view, 2)) && is_one(scale)) &&
      view.Differ(DimensionsOf(view, 2), scale)) {
    return view.Error(absl::StrCat("the zero point (input 2) has the shape ",
                                   ToString(DimensionsOf(view, 2)), ", the scale ",
                                   ToString(scale)));
  }
  if (is_one(scale)) return absl::OkStatus();
  const auto misfit = [&] {
    return view.Error(absl::StrCat("the scale of shape ", ToString(scale), " does not fit ",
                                   ToString(x), " along axis ", quantization.axis, " in blocks of ",
                                   quantization.block));
  };
  // Of a vector there is only one axis.
  const int64_t axis = x.size() == 1 ? 0 : view.Int("axis");
  SLIPWAY_ASSIGN_OR_RETURN(quantization.axis, NormalizeAxis(view, axis, x.size()));
  const int64_t block = view.Int("block_size");
  if (block == 0 && scale.size() == 1) {
    quantization.granularity = Granularity::kAxis;
    return view.Differ(scale[0], x[quantization.axis]) ? misfit() : absl::OkStatus();
  }
  quantization.granularity = Granularity::kBlock;
  quantization.block = block;
  if (block < 1) return view.Error(absl::StrCat("\"block_size\" is ", block));
  Dimensions blocks = x;
  blocks[quantization.axis] = CeilDivide(x[quantization.axis], block);
  return view.Differ(scale, blocks) ? misfit() : absl::OkStatus();
}

absl::StatusOr<DataType> OutputOfQuantize(const NodeView& view) {
  const bool given = view.Int("output_dtype") != 0;
  DataType output = DataType::kUint8;
  if (given) {
    SLIPWAY_ASSIGN_OR_RETURN(
        output, TypeAttribute(view, "output_dtype", kStored.subspan(0, kStored.size() - 1)));
  }
  if (!view.has_input(2)) return output;
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 2, kStored.subspan(0, kStored.size() - 1)));
  const DataType zero = view.input_type(2).dtype();
  if (given && zero != output) {
    return view.Error(absl::StrCat("\"output_dtype\" is ", Name(output),
                                   ", the zero point (input 2) is ", Name(zero)));
  }
  return zero;
}

absl::StatusOr<QuantizationView> DecodeQuantize(const NodeView& view) {
  QuantizationView quantization;
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, kScaledReals));
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 1, kScales));
  SLIPWAY_ASSIGN_OR_RETURN(quantization.output, OutputOfQuantize(view));
  quantization.saturate = view.Int("saturate") != 0;
  if (view.Int("precision") != 0) {
    SLIPWAY_ASSIGN_OR_RETURN(quantization.precision, TypeAttribute(view, "precision", kReals));
  }
  return quantization;
}

absl::StatusOr<QuantizationView> DecodeDequantize(const NodeView& view) {
  QuantizationView quantization;
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, kStored));
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 1, absl::MakeConstSpan(kScales, 4)));
  const DataType x = view.input_type(0).dtype();
  if (view.has_input(2) && view.input_type(2).dtype() != x) {
    return view.Error(absl::StrCat("the zero point (input 2) is ", Name(view.input_type(2).dtype()),
                                   ", x is ", Name(x)));
  }
  if (view.Int("output_dtype") != 0) {
    SLIPWAY_ASSIGN_OR_RETURN(quantization.output, TypeAttribute(view, "output_dtype", kReals));
    return quantization;
  }
  quantization.output = view.input_type(1).dtype();
  for (const DataType real : kReals) {
    if (real == quantization.output) return quantization;
  }
  return view.Error(
      absl::StrCat("a scale of type ", Name(quantization.output), " needs an \"output_dtype\""));
}

absl::StatusOr<std::vector<ValueType>> QuantizationType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const QuantizationView quantization, DecodeQuantization(view));
  return std::vector<ValueType>{ValueType(quantization.output, DimensionsOf(view, 0))};
}

absl::StatusOr<std::vector<ValueType>> LookupType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const LookupView lookup, DecodeLookup(view));
  return std::vector<ValueType>{ValueType(lookup.to, DimensionsOf(view, 0))};
}

absl::StatusOr<std::vector<ValueType>> DynamicQuantizeType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, {DataType::kFloat32}));
  return std::vector<ValueType>{ValueType(DataType::kUint8, DimensionsOf(view, 0)),
                                ValueType(DataType::kFloat32, Dimensions()),
                                ValueType(DataType::kUint8, Dimensions())};
}

}  // namespace

absl::StatusOr<QuantizationView> DecodeQuantization(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(QuantizationView quantization, view.op() == "QuantizeLinear"
                                                              ? DecodeQuantize(view)
                                                              : DecodeDequantize(view));
  SLIPWAY_RETURN_IF_ERROR(DecodeGranularity(view, quantization));
  return quantization;
}

absl::StatusOr<LookupView> DecodeLookup(const NodeView& view) {
  constexpr DataType kTo[] = {DataType::kUint8, DataType::kInt8, DataType::kInt16};
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, {DataType::kUint8, DataType::kInt8}));
  LookupView lookup;
  SLIPWAY_ASSIGN_OR_RETURN(lookup.to, TypeAttribute(view, "to", kTo));
  lookup.table = view.Ints("table");
  if (static_cast<int64_t>(lookup.table.size()) != kCodes) {
    return view.Error(absl::StrCat("\"table\" has ", lookup.table.size(), " numbers where ", kCodes,
                                   " are needed"));
  }
  const int64_t least = lookup.to == DataType::kUint8  ? 0
                        : lookup.to == DataType::kInt8 ? -128
                                                       : -32768;
  const int64_t largest = lookup.to == DataType::kUint8  ? 255
                          : lookup.to == DataType::kInt8 ? 127
                                                         : 32767;
  for (const int64_t number : lookup.table) {
    if (number >= least && number <= largest) continue;
    return view.Error(
        absl::StrCat("\"table\" has ", number, ", which ", Name(lookup.to), " does not hold"));
  }
  return lookup;
}

bool HasScalesAlongAxis(const NodeView& view) {
  if (view.op() != "QuantizeLinear" && view.op() != "DequantizeLinear") return false;
  const absl::StatusOr<QuantizationView> quantization = DecodeQuantization(view);
  return !quantization.ok() || quantization->granularity != Granularity::kTensor;
}

absl::Status RegisterQuantizationOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.min_inputs = 2;
  schema.max_inputs = 3;
  schema.pattern = Pattern::kBroadcast;
  schema.layout.role = LayoutRole::kElementwise;
  schema.type_rule = QuantizationType;
  schema.attributes = {IntAttribute("axis", 1), IntAttribute("block_size", 0),
                       IntAttribute("output_dtype", 0)};
  schema.name = "DequantizeLinear";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  schema.attributes.push_back(IntAttribute("precision", 0));
  schema.attributes.push_back(IntAttribute("saturate", 1));
  schema.name = "QuantizeLinear";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  OperatorSchema lookup;
  lookup.name = "slipway.Lookup";
  lookup.pattern = Pattern::kElementwise;
  lookup.layout.role = LayoutRole::kElementwise;
  lookup.type_rule = LookupType;
  lookup.attributes = {Required(IntAttribute("to", std::nullopt)),
                       Required(IntsAttribute("table"))};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(lookup));

  OperatorSchema dynamic;
  dynamic.name = "DynamicQuantizeLinear";
  dynamic.min_outputs = 1;
  dynamic.max_outputs = 3;
  dynamic.type_rule = DynamicQuantizeType;
  return registry.Add(dynamic);
}

}  // namespace slipway
