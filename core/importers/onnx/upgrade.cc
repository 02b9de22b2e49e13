#include "core/importers/onnx/upgrade.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/importers/onnx/composition.h"
#include "core/importers/onnx/forms.h"

namespace slipway {
namespace {

std::string Describe(const Emitter& emitter, const Node& node) {
  return absl::StrCat("node \"", DisplayName(emitter.graph(), node), "\" (", node.op, ")");
}

std::string Prefix(const Emitter& emitter, const Node& node, absl::string_view what) {
  return absl::StrCat(DisplayName(emitter.graph(), node), "_", what);
}

absl::Status Unsupported(const Emitter& emitter, const Node& node, absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat(Describe(emitter, node), ": ", what, " is not supported"));
}

void Rename(absl::string_view attribute, absl::string_view name, Node& node) {
  const Attribute* found = node.attributes.Find(attribute);
  if (found == nullptr) return;
  const Attribute value = *found;
  node.attributes.Erase(attribute);
  node.attributes.Set(name, value);
}

// Turns a list attribute into a constant input at `position`. Leaves it out when it is not there.
void MoveIntsToInput(absl::string_view attribute, size_t position, Node& node, Emitter& emitter) {
  const auto* values = node.attributes.FindAs<std::vector<int64_t>>(attribute);
  if (values == nullptr) return;
  if (node.inputs.size() <= position) node.inputs.resize(position + 1, kNoValue);
  node.inputs[position] = emitter.AddInts(Prefix(emitter, node, attribute), *values);
  node.attributes.Erase(attribute);
}

void MoveFloatToInput(absl::string_view attribute, size_t position, Node& node, Emitter& emitter) {
  const auto* value = node.attributes.FindAs<float>(attribute);
  if (value == nullptr) return;
  if (node.inputs.size() <= position) node.inputs.resize(position + 1, kNoValue);
  node.inputs[position] =
      emitter.AddScalar(Prefix(emitter, node, attribute), *value, node.inputs[0]);
  node.attributes.Erase(attribute);
}

absl::Status AxesToInput(int, Node node, Emitter& emitter) {
  MoveIntsToInput("axes", 1, node, emitter);
  return emitter.Emit(std::move(node));
}

// Up to opset 17 a Split without parts made as many as it has outputs.
absl::Status UpgradeSplit(int opset, Node node, Emitter& emitter) {
  if (opset <= 1 && node.inputs.size() > 1) {
    return Unsupported(emitter, node, "a split that is an input of opset 1");
  }
  if (opset <= 12) MoveIntsToInput("split", 1, node, emitter);
  if (node.inputs.size() < 2 || node.inputs[1] == kNoValue) {
    node.attributes.Set("num_outputs", static_cast<int64_t>(node.outputs.size()));
  }
  return emitter.Emit(std::move(node));
}

absl::Status UpgradeSlice(int, Node node, Emitter& emitter) {
  MoveIntsToInput("starts", 1, node, emitter);
  MoveIntsToInput("ends", 2, node, emitter);
  MoveIntsToInput("axes", 3, node, emitter);
  return emitter.Emit(std::move(node));
}

// ScatterElements under its first name.
absl::Status UpgradeScatter(int, Node node, Emitter& emitter) {
  node.op = "ScatterElements";
  return emitter.Emit(std::move(node));
}

absl::Status UpgradeTopK(int, Node node, Emitter& emitter) {
  if (const auto* k = node.attributes.FindAs<int64_t>("k")) {
    node.inputs.resize(2, kNoValue);
    node.inputs[1] = emitter.AddInts(Prefix(emitter, node, "k"), {*k});
    node.attributes.Erase("k");
  }
  return emitter.Emit(std::move(node));
}

// Up to opset 10 the nearest element was the one before, and places were not those of pixels' centers.
void ResizeAsBefore(Node& node) {
  node.attributes.Set("coordinate_transformation_mode", std::string("asymmetric"));
  node.attributes.Set("nearest_mode", std::string("floor"));
}

absl::Status UpgradeResize(int, Node node, Emitter& emitter) {
  ResizeAsBefore(node);
  node.inputs.insert(node.inputs.begin() + std::min<size_t>(node.inputs.size(), 1), kNoValue);
  return emitter.Emit(std::move(node));
}

absl::Status UpgradeUpsample(int opset, Node node, Emitter& emitter) {
  const auto* height = node.attributes.FindAs<float>("height_scale");
  const auto* width = node.attributes.FindAs<float>("width_scale");
  if (opset <= 6 && height != nullptr && width != nullptr) {
    node.attributes.Set("scales", std::vector<float>{1, 1, *height, *width});
    node.attributes.Erase("height_scale");
    node.attributes.Erase("width_scale");
  }
  if (const auto* scales = node.attributes.FindAs<std::vector<float>>("scales")) {
    node.inputs.resize(2, kNoValue);
    node.inputs[1] = emitter.AddFloats(Prefix(emitter, node, "scales"), *scales);
    node.attributes.Erase("scales");
  }
  node.op = "Resize";
  return UpgradeResize(opset, std::move(node), emitter);
}

// The modes had their names in two dimensions.
absl::Status UpgradeGridSample(int, Node node, Emitter& emitter) {
  const auto* mode = node.attributes.FindAs<std::string>("mode");
  if (mode != nullptr && *mode == "bilinear") node.attributes.Set("mode", std::string("linear"));
  if (mode != nullptr && *mode == "bicubic") node.attributes.Set("mode", std::string("cubic"));
  return emitter.Emit(std::move(node));
}

absl::Status UpgradeRoiAlign(int, Node node, Emitter& emitter) {
  node.attributes.Set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return emitter.Emit(std::move(node));
}

// The axis was an attribute, of another default.
absl::Status UpgradeDft(int, Node node, Emitter& emitter) {
  const auto* given = node.attributes.FindAs<int64_t>("axis");
  const int64_t axis = given == nullptr ? 1 : *given;
  node.inputs.resize(3, kNoValue);
  node.inputs[2] =
      emitter.AddConstant(Prefix(emitter, node, "axis"), Tensor::Scalar<int64_t>(axis));
  node.attributes.Erase("axis");
  return emitter.Emit(std::move(node));
}

absl::Status UpgradeClip(int, Node node, Emitter& emitter) {
  MoveFloatToInput("min", 1, node, emitter);
  MoveFloatToInput("max", 2, node, emitter);
  return emitter.Emit(std::move(node));
}

absl::Status UpgradePad(int opset, Node node, Emitter& emitter) {
  if (opset <= 1) Rename("paddings", "pads", node);
  MoveIntsToInput("pads", 1, node, emitter);
  MoveFloatToInput("value", 2, node, emitter);
  return emitter.Emit(std::move(node));
}

// Up to opset 6 an attribute said whether a node trains, which it did by default.
absl::Status EraseIsTest(int opset, Node& node, const Emitter& emitter) {
  const auto* is_test = node.attributes.FindAs<int64_t>("is_test");
  if (opset <= 6 && (is_test == nullptr || *is_test == 0)) {
    return Unsupported(emitter, node, "training (\"is_test\" = 0)");
  }
  if (opset <= 6) node.attributes.Erase("is_test");
  return absl::OkStatus();
}

// A Dropout that trains, or may: elements whose random number is below the ratio become 0, and the others larger.
absl::Status DropElements(const Node& node, Emitter& emitter) {
  Composition parts(node, emitter);
  constexpr auto kFloat64 = static_cast<int64_t>(DataType::kFloat64);
  const auto scalar = [&parts](double value) {
    return parts.Constant(Tensor::Scalar<double>(value));
  };
  const ValueId x = parts.input(0);
  const ValueId training = parts.input(2);
  const ValueId ratio =
      parts.has_input(1) ? parts.Make("Cast", {parts.input(1)}, {{"to", kFloat64}}) : scalar(0.5);
  Attributes sequence = {{"dtype", kFloat64}};
  if (const auto* seed = node.attributes.FindAs<int64_t>("seed")) {
    sequence.Set("seed", static_cast<float>(*seed));
  }
  const ValueId numbers = parts.Make("RandomUniformLike", {x}, sequence);
  const ValueId kept = parts.MakeOutput(
      1, "Or", {parts.Make("GreaterOrEqual", {numbers, ratio}), parts.Make("Not", {training})});
  const ValueId grown = parts.Make("Div", {scalar(1), parts.Make("Sub", {scalar(1), ratio})});
  const ValueId scale =
      parts.Make("CastLike", {parts.Make("Where", {training, grown, scalar(1)}), x});
  parts.MakeOutput(0, "Where", {kept, parts.Make("Mul", {x, scale}), parts.FloatLike(0, x)});
  return parts.status();
}

// The ratio means nothing in inference, which an input says from opset 12 on.
absl::Status UpgradeDropout(int opset, Node node, Emitter& emitter) {
  if (opset >= 12) {
    const bool says = node.inputs.size() == 3 && node.inputs[0] != kNoValue &&
                      !node.outputs.empty() && node.inputs[2] != kNoValue;
    const Tensor* training = says ? emitter.constant(node.inputs[2]) : nullptr;
    const bool trains = says && (training == nullptr || training->dtype() != DataType::kBool ||
                                 training->num_elements() != 1 || training->values<bool>()[0]);
    return trains ? DropElements(node, emitter) : emitter.Emit(std::move(node));
  }
  SLIPWAY_RETURN_IF_ERROR(EraseIsTest(opset, node, emitter));
  node.attributes.Erase("ratio");
  if (opset >= 10 || node.outputs.size() < 2 || node.outputs[1] == kNoValue) {
    return emitter.Emit(std::move(node));
  }
  // The mask had the elements' type.
  const ValueId mask = emitter.AddValue(Prefix(emitter, node, "mask"));
  Node like{
      node.name, "CastLike", {mask, node.inputs[0]}, {std::exchange(node.outputs[1], mask)}, {}};
  SLIPWAY_RETURN_IF_ERROR(emitter.Emit(std::move(node)));
  return emitter.Emit(std::move(like));
}

absl::Status UpgradeBatchNormalization(int opset, Node node, Emitter& emitter) {
  SLIPWAY_RETURN_IF_ERROR(EraseIsTest(opset, node, emitter));
  const auto* spatial = node.attributes.FindAs<int64_t>("spatial");
  if (spatial != nullptr && *spatial == 0) {
    return Unsupported(emitter, node, "\"spatial\" = 0");
  }
  node.attributes.Erase("spatial");
  // Outputs that opset 14 has no more; all but the first are made in training.
  if (node.outputs.size() > 1) return Unsupported(emitter, node, "training (further outputs)");
  return emitter.Emit(std::move(node));
}

// Puts `count` dimensions of extent 1 behind those of an input.
absl::Status AppendDimensions(int input, int64_t count, Node& node, Emitter& emitter) {
  const int rank = emitter.type(node.inputs[input])->rank();
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < count; ++d) axes.push_back(rank + d);
  const ValueId axes_input = emitter.AddInts(Prefix(emitter, node, "axes"), axes);
  const ValueId longer = emitter.AddValue(Prefix(emitter, node, "longer"));
  const ValueId shorter = std::exchange(node.inputs[input], longer);
  return emitter.Emit(Node{node.name, "Unsqueeze", {shorter, axes_input}, {longer}, {}});
}

// Up to opset 6 the second operand was only broadcast where an attribute said so: its dimensions stand from an axis of the
// first one on, or are the last ones.
absl::Status UpgradeOldBroadcast(int, Node node, Emitter& emitter) {
  const auto* broadcast = node.attributes.FindAs<int64_t>("broadcast");
  const auto* given = node.attributes.FindAs<int64_t>("axis");
  const bool along = broadcast != nullptr && *broadcast != 0 && given != nullptr;
  const int64_t axis = along ? *given : 0;
  node.attributes.Erase("broadcast");
  node.attributes.Erase("axis");
  if (!along) return emitter.Emit(std::move(node));
  const bool complete = node.inputs.size() == 2;
  const ValueType* a = complete ? emitter.type(node.inputs[0]) : nullptr;
  const ValueType* b = complete ? emitter.type(node.inputs[1]) : nullptr;
  if (a == nullptr || b == nullptr) {
    return Unsupported(emitter, node, "broadcasting along an axis of an input of unknown rank");
  }
  const int64_t first = axis < 0 ? axis + a->rank() : axis;
  const int64_t behind = a->rank() - first - b->rank();
  if (first < 0 || behind < 0) {
    return absl::InvalidArgumentError(absl::StrCat(Describe(emitter, node), ": ", ToString(*b),
                                                   " does not stand in ", ToString(*a),
                                                   " from axis ", axis, " on"));
  }
  if (behind > 0) SLIPWAY_RETURN_IF_ERROR(AppendDimensions(1, behind, node, emitter));
  return emitter.Emit(std::move(node));
}

// Before opset 13 a Softmax, LogSoftmax or Hardmax saw its input as a matrix: all dimensions from the axis on were one.
absl::Status UpgradeSoftmax(int, Node node, Emitter& emitter) {
  const auto* given = node.attributes.FindAs<int64_t>("axis");
  const int64_t axis = given == nullptr ? 1 : *given;
  const bool complete = node.inputs.size() == 1 && node.inputs[0] != kNoValue;
  const ValueType* type = complete ? emitter.type(node.inputs[0]) : nullptr;
  const bool typed = type != nullptr && type->is_static();
  // A copy: values that are added move the types about.
  const Shape x = typed ? type->shape() : Shape();
  const bool is_last = axis == -1 || (typed && axis + 1 == static_cast<int64_t>(x.size()));
  if (is_last || !complete) {
    node.attributes.Set("axis", int64_t{-1});
    return emitter.Emit(std::move(node));
  }
  const ValueId input = node.inputs[0];
  const std::vector<ValueId> outputs = node.outputs;
  const ValueId flat = emitter.AddValue(Prefix(emitter, node, "flat"));
  const ValueId soft = emitter.AddValue(Prefix(emitter, node, "soft"));
  ValueId shape = kNoValue;
  if (typed) {
    shape =
        emitter.AddInts(Prefix(emitter, node, "shape"), std::vector<int64_t>(x.begin(), x.end()));
  } else {
    shape = emitter.AddValue(Prefix(emitter, node, "shape"));
    SLIPWAY_RETURN_IF_ERROR(emitter.Emit(Node{node.name, "Shape", {input}, {shape}, {}}));
  }
  SLIPWAY_RETURN_IF_ERROR(
      emitter.Emit(Node{node.name, "Flatten", {input}, {flat}, {{"axis", axis}}}));
  SLIPWAY_RETURN_IF_ERROR(
      emitter.Emit(Node{node.name, node.op, {flat}, {soft}, {{"axis", int64_t{-1}}}}));
  // An empty dimension stays empty instead of being copied.
  return emitter.Emit(
      Node{node.name, "Reshape", {soft, shape}, outputs, {{"allowzero", int64_t{1}}}});
}

// Before opset 7 a slope of rank 1 was one a channel.
absl::Status UpgradePRelu(int, Node node, Emitter& emitter) {
  const bool complete =
      node.inputs.size() == 2 && node.inputs[0] != kNoValue && node.inputs[1] != kNoValue;
  const ValueType* x = complete ? emitter.type(node.inputs[0]) : nullptr;
  const ValueType* slope = complete ? emitter.type(node.inputs[1]) : nullptr;
  if (!complete || (slope != nullptr && slope->rank() != 1)) return emitter.Emit(std::move(node));
  if (x == nullptr || slope == nullptr) {
    return Unsupported(emitter, node,
                       "a slope for each channel of an input whose rank is not known");
  }
  if (x->rank() > 2) {
    SLIPWAY_RETURN_IF_ERROR(AppendDimensions(1, x->rank() - 2, node, emitter));
  }
  return emitter.Emit(std::move(node));
}

// Up to opset 20 scale and bias were of groups, not of channels.
absl::Status UpgradeGroupNormalization(int, Node node, Emitter& emitter) {
  const auto* groups = node.attributes.FindAs<int64_t>("num_groups");
  const ValueType* x = node.inputs.empty() ? nullptr : emitter.type(node.inputs[0]);
  if (groups == nullptr || *groups < 1 || node.inputs.size() != 3) {
    return emitter.Emit(std::move(node));  // Whose schema says what is wrong.
  }
  if (x == nullptr || x->rank() < 2 || !x->dimension(1).is_known()) {
    return Unsupported(emitter, node, "a scale for each group of channels of unknown number");
  }
  const int64_t each = x->dimension(1).extent() / *groups;
  for (const int input : {1, 2}) {
    const ValueId shape = emitter.AddInts(Prefix(emitter, node, "shape"), {*groups, each});
    const ValueId column = emitter.AddInts(Prefix(emitter, node, "column"), {*groups, 1});
    const ValueId flat = emitter.AddInts(Prefix(emitter, node, "flat"), {-1});
    const ValueId by_group = emitter.AddValue(Prefix(emitter, node, "by_group"));
    const ValueId repeated = emitter.AddValue(Prefix(emitter, node, "repeated"));
    const ValueId by_channel = emitter.AddValue(Prefix(emitter, node, "by_channel"));
    SLIPWAY_RETURN_IF_ERROR(
        emitter.Emit(Node{node.name, "Reshape", {node.inputs[input], column}, {by_group}, {}}));
    SLIPWAY_RETURN_IF_ERROR(
        emitter.Emit(Node{node.name, "Expand", {by_group, shape}, {repeated}, {}}));
    SLIPWAY_RETURN_IF_ERROR(
        emitter.Emit(Node{node.name, "Reshape", {repeated, flat}, {by_channel}, {}}));
    node.inputs[input] = by_channel;
  }
  return emitter.Emit(std::move(node));
}

// Up to opset 5 the type had its name in ONNX's enumeration.
absl::Status UpgradeCast(int, Node node, Emitter& emitter) {
  constexpr std::pair<const char*, DataType> kTypes[] = {
      {"BOOL", DataType::kBool},     {"DOUBLE", DataType::kFloat64},
      {"FLOAT", DataType::kFloat32}, {"FLOAT16", DataType::kFloat16},
      {"INT16", DataType::kInt16},   {"INT32", DataType::kInt32},
      {"INT64", DataType::kInt64},   {"INT8", DataType::kInt8},
      {"UINT16", DataType::kUint16}, {"UINT32", DataType::kUint32},
      {"UINT64", DataType::kUint64}, {"UINT8", DataType::kUint8},
  };
  const auto* given = node.attributes.FindAs<std::string>("to");
  if (given == nullptr) return emitter.Emit(std::move(node));
  for (const auto& [name, dtype] : kTypes) {
    if (*given != name) continue;
    node.attributes.Set("to", static_cast<int64_t>(dtype));
    return emitter.Emit(std::move(node));
  }
  return Unsupported(emitter, node, absl::StrCat("a cast to \"", *given, "\""));
}

absl::Status UpgradeConcat(int, Node node, Emitter& emitter) {
  if (node.attributes.Find("axis") == nullptr) node.attributes.Set("axis", int64_t{1});
  return emitter.Emit(std::move(node));
}

// The order of the norm could be a fraction.
absl::Status UpgradeLpPool(int, Node node, Emitter& emitter) {
  if (const auto* p = node.attributes.FindAs<float>("p")) {
    if (*p != 1 && *p != 2) return Unsupported(emitter, node, absl::StrCat("\"p\" = ", *p));
    node.attributes.Set("p", static_cast<int64_t>(*p));
  }
  return emitter.Emit(std::move(node));
}

// Which outputs there are said an attribute, too; the direction's default was misspelled.
absl::Status UpgradeRecurrent(int, Node node, Emitter& emitter) {
  node.attributes.Erase("output_sequence");
  const auto* direction = node.attributes.FindAs<std::string>("direction");
  if (direction != nullptr && *direction == "foward") node.attributes.Erase("direction");
  return emitter.Emit(std::move(node));
}

absl::Status UpgradeReshape(int, Node node, Emitter& emitter) {
  MoveIntsToInput("shape", 1, node, emitter);
  return emitter.Emit(std::move(node));
}

absl::Status UpgradeSelu(int, Node node, Emitter& emitter) {
  if (node.attributes.Find("alpha") == nullptr) node.attributes.Set("alpha", 1.6732f);
  if (node.attributes.Find("gamma") == nullptr) node.attributes.Set("gamma", 1.0507f);
  return emitter.Emit(std::move(node));
}

// Up to opset 5 one axis was repeated.
absl::Status UpgradeTile(int, Node node, Emitter& emitter) {
  if (node.inputs.size() != 3) return emitter.Emit(std::move(node));
  const ValueType* x = emitter.type(node.inputs[0]);
  int64_t numbers[2] = {};  // How often, and the axis.
  bool known = x != nullptr;
  for (const int i : {1, 2}) {
    const Tensor* tensor = emitter.constant(node.inputs[i]);
    known = known && tensor != nullptr && tensor->num_elements() == 1;
    if (known && tensor->dtype() == DataType::kInt64) {
      numbers[i - 1] = tensor->values<int64_t>()[0];
    } else if (known && tensor->dtype() == DataType::kFloat32) {
      const float number = tensor->values<float>()[0];
      known = number >= 0 && number < 1e9f && number == std::floor(number);
      if (known) numbers[i - 1] = static_cast<int64_t>(number);
    } else {
      known = false;
    }
  }
  if (!known || numbers[1] < 0 || numbers[1] >= x->rank()) {
    return Unsupported(emitter, node, "repeating along an axis or a number that is not known");
  }
  std::vector<int64_t> repeats(x->rank(), 1);
  repeats[numbers[1]] = numbers[0];
  node.inputs = {node.inputs[0], emitter.AddInts(Prefix(emitter, node, "repeats"), repeats)};
  return emitter.Emit(std::move(node));
}

// Here a Loop has both, the number of turns and the condition.
void CompleteLoop(Node& node, Emitter& emitter) {
  node.inputs.resize(std::max<size_t>(node.inputs.size(), 2), kNoValue);
  if (node.inputs[0] == kNoValue) {
    node.inputs[0] = emitter.AddConstant(Prefix(emitter, node, "turns"),
                                         Tensor::Scalar(std::numeric_limits<int64_t>::max()));
  }
  if (node.inputs[1] == kNoValue) {
    node.inputs[1] = emitter.AddConstant(Prefix(emitter, node, "first"), Tensor::Scalar(true));
  }
}

// In opset 8 a Scan scanned each element of a batch by itself: a Scan over them around one over the sequence.
absl::Status UpgradeScan(int, Node node, Emitter& emitter) {
  if (!node.inputs.empty() && node.inputs[0] != kNoValue) {
    return Unsupported(emitter, node, "a length for each sequence of a batch");
  }
  if (!node.inputs.empty()) node.inputs.erase(node.inputs.begin());
  if (const Attribute* directions = node.attributes.Find("directions")) {
    node.attributes.Set("scan_input_directions", *directions);
    node.attributes.Erase("directions");
  }
  const int64_t* captures = node.attributes.FindAs<int64_t>(kCapturesAttribute);
  const int64_t captured = captures == nullptr ? 0 : *captures;
  Node batch = node;
  batch.attributes = {{"num_scan_inputs", static_cast<int64_t>(node.inputs.size()) - captured},
                      {kCapturesAttribute, captured}};
  Graph body;
  body.name = "batch";
  for (ValueId& id : node.inputs) id = body.AddInput(absl::StrCat("in_", id), std::nullopt);
  for (ValueId& id : node.outputs) {
    if (id != kNoValue) id = body.AddValue(absl::StrCat("out_", id));
    body.outputs.push_back(id);
  }
  body.nodes.push_back(std::move(node));
  batch.attributes.Set("body", std::make_shared<const Graph>(std::move(body)));
  return emitter.Emit(std::move(batch));
}

// The last opset with the old form, by operator.
struct Row {
  const char* op;
  int last_old_opset;
  absl::Status (*upgrade)(int opset, Node, Emitter&);
};
constexpr Row kRows[] = {
    {"Add", 6, UpgradeOldBroadcast},
    {"And", 6, UpgradeOldBroadcast},
    {"BatchNormalization", 13, UpgradeBatchNormalization},
    {"Cast", 5, UpgradeCast},
    {"Clip", 10, UpgradeClip},
    {"Concat", 3, UpgradeConcat},
    {"DFT", 19, UpgradeDft},
    {"Div", 6, UpgradeOldBroadcast},
    {"Dropout", kOpset, UpgradeDropout},  // One that trains never has a form of its own.
    {"Equal", 6, UpgradeOldBroadcast},
    {"GRU", 6, UpgradeRecurrent},
    {"Gemm", 6, UpgradeOldBroadcast},
    {"GlobalLpPool", 1, UpgradeLpPool},
    {"Greater", 6, UpgradeOldBroadcast},
    {"GridSample", 19, UpgradeGridSample},
    {"GroupNormalization", 20, UpgradeGroupNormalization},
    {"Hardmax", 12, UpgradeSoftmax},
    {"LSTM", 6, UpgradeRecurrent},
    {"Less", 6, UpgradeOldBroadcast},
    {"LogSoftmax", 12, UpgradeSoftmax},
    {"LpPool", 1, UpgradeLpPool},
    {"Mul", 6, UpgradeOldBroadcast},
    {"Or", 6, UpgradeOldBroadcast},
    {"PRelu", 6, UpgradePRelu},
    {"Pad", 10, UpgradePad},
    {"Pow", 6, UpgradeOldBroadcast},
    {"RNN", 6, UpgradeRecurrent},
    {"ReduceL1", 17, AxesToInput},
    {"ReduceL2", 17, AxesToInput},
    {"ReduceLogSum", 17, AxesToInput},
    {"ReduceLogSumExp", 17, AxesToInput},
    {"ReduceMax", 17, AxesToInput},
    {"ReduceMean", 17, AxesToInput},
    {"ReduceMin", 17, AxesToInput},
    {"ReduceProd", 17, AxesToInput},
    {"ReduceSum", 12, AxesToInput},
    {"ReduceSumSquare", 17, AxesToInput},
    {"Reshape", 4, UpgradeReshape},
    {"Resize", 10, UpgradeResize},
    {"RoiAlign", 15, UpgradeRoiAlign},
    {"Scan", 8, UpgradeScan},
    {"Scatter", 10, UpgradeScatter},
    {"Selu", 5, UpgradeSelu},
    {"Slice", 9, UpgradeSlice},
    {"Softmax", 12, UpgradeSoftmax},
    {"Split", 17, UpgradeSplit},
    {"Squeeze", 12, AxesToInput},
    {"Sub", 6, UpgradeOldBroadcast},
    {"Tile", 5, UpgradeTile},
    {"TopK", 9, UpgradeTopK},
    {"Unsqueeze", 12, AxesToInput},
    {"Upsample", 9, UpgradeUpsample},
    {"Xor", 6, UpgradeOldBroadcast},
};

// Null where the form is that of kOpset.
const Row* RowOf(int opset, absl::string_view op) {
  for (const Row& row : kRows) {
    if (op == row.op && opset <= row.last_old_opset) return &row;
  }
  return nullptr;
}

}  // namespace

std::vector<OldOnnxForm> OldOnnxForms() {
  std::vector<OldOnnxForm> forms;
  for (const Row& row : kRows) forms.push_back({row.op, row.last_old_opset});
  return forms;
}

bool IsUpgraded(int opset, absl::string_view op) { return RowOf(opset, op) != nullptr; }

absl::Status EmitUpgraded(int opset, Node node, Emitter& emitter) {
  // Up to opset 5 nodes said which inputs they might overwrite.
  if (opset <= 5) node.attributes.Erase("consumed_inputs");
  if (node.op == "Loop") CompleteLoop(node, emitter);
  const Row* row = RowOf(opset, node.op);
  if (row == nullptr) return emitter.Emit(std::move(node));
  return row->upgrade(opset, std::move(node), emitter);
}

}  // namespace slipway
