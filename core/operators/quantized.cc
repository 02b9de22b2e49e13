#include "core/operators/quantized.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

constexpr DataType kBytes[] = {DataType::kInt8, DataType::kUint8};
constexpr DataType kBytesAndFloats[] = {DataType::kInt8,         DataType::kUint8,
                                        DataType::kFloat8E4M3Fn, DataType::kFloat8E4M3FnUz,
                                        DataType::kFloat8E5M2,   DataType::kFloat8E5M2FnUz};
constexpr DataType kReals[] = {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16};

// Where a node's operands stand; -1 for those that the operator lacks.
struct Places {
  int a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, bias;
};
constexpr Places kInteger = {0, -1, 2, 1, -1, 3, -1, -1, -1};
constexpr Places kLinear = {0, 1, 2, 3, 4, 5, 6, 7, 8};

Places PlacesOf(const NodeView& view) {
  return view.op() == "ConvInteger" || view.op() == "MatMulInteger" ? kInteger : kLinear;
}

absl::Status CheckOne(const NodeView& view, int input) {
  if (input < 0 || !view.has_input(input) ||
      !view.Differ(NumElements(DimensionsOf(view, input)), 1)) {
    return absl::OkStatus();
  }
  return view.Error(absl::StrCat("input ", input, " of shape ", ToString(DimensionsOf(view, input)),
                                 " is not one number"));
}

// One for all, or one for each of `count`, as a list or in one of the other `shapes`.
absl::Status CheckOneOrEach(const NodeView& view, int input, const Dimension& count,
                            const std::vector<Dimensions>& shapes) {
  if (input < 0 || !view.has_input(input)) return absl::OkStatus();
  const Dimensions found = DimensionsOf(view, input);
  const Dimension number = NumElements(found);
  const bool is_one = number == Dimension(1);
  if (is_one || (found.size() == 1 && !view.DiffersFromAll(found[0], {1, count}))) {
    return absl::OkStatus();
  }
  for (const Dimensions& shape : shapes) {
    if (!view.Differ(found, shape)) return absl::OkStatus();
  }
  if (found.size() != 1 && !view.Differ(number, 1)) return absl::OkStatus();
  return view.Error(absl::StrCat("input ", input, " of shape ", ToString(found),
                                 " is neither one number nor ", ToString(count), " of them"));
}

absl::Status CheckSameType(const NodeView& view, int a, int b) {
  if (a < 0 || b < 0 || !view.has_input(b)) return absl::OkStatus();
  const DataType x = view.input_type(a).dtype();
  const DataType y = view.input_type(b).dtype();
  if (x == y) return absl::OkStatus();
  return view.Error(
      absl::StrCat("input ", b, " is of type ", Name(y), " and input ", a, " of type ", Name(x)));
}

absl::Status CheckTypes(const NodeView& view, const Places& at,
                        absl::Span<const DataType> quantized, absl::Span<const DataType> reals) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, at.a, quantized));
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, at.b, quantized));
  SLIPWAY_RETURN_IF_ERROR(CheckSameType(view, at.a, at.a_zero));
  SLIPWAY_RETURN_IF_ERROR(CheckSameType(view, at.b, at.b_zero));
  SLIPWAY_RETURN_IF_ERROR(CheckOne(view, at.y_scale));
  SLIPWAY_RETURN_IF_ERROR(CheckOne(view, at.y_zero));
  if (at.a_scale < 0) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, at.a_scale, reals));
  SLIPWAY_RETURN_IF_ERROR(CheckSameType(view, at.a_scale, at.b_scale));
  SLIPWAY_RETURN_IF_ERROR(CheckSameType(view, at.a_scale, at.y_scale));
  return CheckDtype(view, at.y_zero, quantized);
}

DataType OutputType(const NodeView& view, const Places& at) {
  return at.y_zero < 0 ? DataType::kInt32 : view.input_type(at.y_zero).dtype();
}

absl::Status CheckChannels(const NodeView& view, const Places& at, int64_t group) {
  const Dimension in = view.input_type(at.a).dimension(1);
  const Dimension out = view.input_type(at.b).dimension(0);
  const Dimension each = view.input_type(at.b).dimension(1);
  if (Divides(view, group, in) && Divides(view, group, out) &&
      !view.Differ(FloorDivide(in, group), each)) {
    return absl::OkStatus();
  }
  return view.Error(absl::StrCat("x has ", ToString(in), " channels, w takes ", ToString(each),
                                 " and makes ", ToString(out), " with ", group,
                                 " groups: these do not fit"));
}

absl::StatusOr<std::vector<ValueType>> ConvType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const QuantizedConvView conv, DecodeQuantizedConv(view));
  const Places at = PlacesOf(view);
  Dimensions y = {view.input_type(at.a).dimension(0), view.input_type(at.b).dimension(0)};
  y.insert(y.end(), conv.window.output.begin(), conv.window.output.end());
  return std::vector<ValueType>{ValueType(OutputType(view, at), y)};
}

absl::StatusOr<std::vector<ValueType>> MatMulType(const NodeView& view) {
  const Places at = PlacesOf(view);
  SLIPWAY_RETURN_IF_ERROR(CheckTypes(
      view, at, at.y_zero < 0 ? absl::MakeConstSpan(kBytes) : absl::MakeConstSpan(kBytesAndFloats),
      kReals));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, at.a, 1));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, at.b, 1));
  const Dimensions a = DimensionsOf(view, at.a);
  const Dimensions b = DimensionsOf(view, at.b);
  const bool row = a.size() > 1;
  const bool column = b.size() > 1;
  if (view.Differ(a.back(), column ? b[b.size() - 2] : b[0])) {
    return view.Error(absl::StrCat("matrices of shapes ", ToString(a), " and ", ToString(b),
                                   " cannot be multiplied"));
  }
  Dimensions a_rows = a;
  a_rows.back() = 1;
  Dimensions b_columns = b;
  if (column) b_columns[b.size() - 2] = 1;
  const Dimension rows = row ? a[a.size() - 2] : Dimension(1);
  const Dimension columns = column ? b.back() : Dimension(1);
  for (const int input : {at.a_scale, at.a_zero}) {
    SLIPWAY_RETURN_IF_ERROR(CheckOneOrEach(view, input, rows, {a_rows}));
  }
  for (const int input : {at.b_scale, at.b_zero}) {
    SLIPWAY_RETURN_IF_ERROR(CheckOneOrEach(view, input, columns, {b_columns}));
  }
  SLIPWAY_ASSIGN_OR_RETURN(
      Dimensions y, BroadcastInputs(view, DimensionsOf(view, at.a, 0, row ? a.size() - 2 : 0),
                                    DimensionsOf(view, at.b, 0, column ? b.size() - 2 : 0)));
  if (row) y.push_back(rows);
  if (column) y.push_back(columns);
  return std::vector<ValueType>{ValueType(OutputType(view, at), y)};
}

}  // namespace

absl::StatusOr<QuantizedConvView> DecodeQuantizedConv(const NodeView& view) {
  const Places at = PlacesOf(view);
  SLIPWAY_RETURN_IF_ERROR(CheckTypes(view, at, kBytes, absl::MakeConstSpan(kReals, 1)));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, at.a, 3, 5));
  const int rank = view.input_type(at.a).rank();
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, at.b, rank, rank));
  QuantizedConvView conv;
  conv.group = view.Int("group");
  SLIPWAY_RETURN_IF_ERROR(CheckChannels(view, at, conv.group));
  const Dimension out = view.input_type(at.b).dimension(0);
  for (const int input : {at.a_scale, at.a_zero}) SLIPWAY_RETURN_IF_ERROR(CheckOne(view, input));
  for (const int input : {at.b_scale, at.b_zero}) {
    SLIPWAY_RETURN_IF_ERROR(CheckOneOrEach(view, input, out, {}));
  }
  if (at.bias >= 0 && view.has_input(at.bias)) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, at.bias, {DataType::kInt32}));
    if (view.Differ(DimensionsOf(view, at.bias), {out})) {
      return view.Error(absl::StrCat("the bias has the shape ",
                                     ToString(DimensionsOf(view, at.bias)), " where [",
                                     ToString(out), "] is needed"));
    }
  }
  const Dimensions kernel = DimensionsOf(view, at.b, 2);
  if (view.has("kernel_shape") && view.Differ(kernel, ToDimensions(view.Ints("kernel_shape")))) {
    return view.Error(absl::StrCat("\"kernel_shape\" is ", ToString(view.Ints("kernel_shape")),
                                   " but w has ", ToString(kernel)));
  }
  SLIPWAY_ASSIGN_OR_RETURN(conv.window, DecodeWindow(view, kernel, DimensionsOf(view, at.a, 2)));
  return conv;
}

absl::Status RegisterQuantizedOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.type_rule = MatMulType;
  schema.min_inputs = 2;
  schema.max_inputs = 4;
  schema.name = "MatMulInteger";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  schema.min_inputs = schema.max_inputs = 8;
  schema.name = "QLinearMatMul";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.type_rule = ConvType;
  schema.attributes = {IntsAttribute("kernel_shape"), IntsAttribute("strides"),
                       IntsAttribute("pads"),         IntsAttribute("dilations"),
                       IntAttribute("group", 1),      StringAttribute("auto_pad", "NOTSET")};
  schema.max_inputs = 9;
  schema.name = "QLinearConv";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  schema.min_inputs = 2;
  schema.max_inputs = 4;
  schema.name = "ConvInteger";
  return registry.Add(schema);
}

}  // namespace slipway
