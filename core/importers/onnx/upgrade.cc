#include "core/importers/onnx/upgrade.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

std::string Describe(const Emitter& emitter, const Node& node) {
  return absl::StrCat("node \"", DisplayName(emitter.graph(), node), "\" (", node.op, ")");
}

std::string Prefix(const Emitter& emitter, const Node& node, absl::string_view what) {
  return absl::StrCat(DisplayName(emitter.graph(), node), "_", what);
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
  node.inputs[2] = emitter.AddInts(Prefix(emitter, node, "axis"), {axis});
  node.attributes.Erase("axis");
  return emitter.Emit(std::move(node));
}

absl::Status UpgradeClip(int, Node node, Emitter& emitter) {
  MoveFloatToInput("min", 1, node, emitter);
  MoveFloatToInput("max", 2, node, emitter);
  return emitter.Emit(std::move(node));
}

absl::Status UpgradePad(int, Node node, Emitter& emitter) {
  MoveIntsToInput("pads", 1, node, emitter);
  MoveFloatToInput("value", 2, node, emitter);
  return emitter.Emit(std::move(node));
}

absl::Status Unsupported(const Emitter& emitter, const Node& node, absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat(Describe(emitter, node), ": ", what, " is not supported"));
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

// The ratio means nothing in inference.
absl::Status UpgradeDropout(int opset, Node node, Emitter& emitter) {
  SLIPWAY_RETURN_IF_ERROR(EraseIsTest(opset, node, emitter));
  node.attributes.Erase("ratio");
  return emitter.Emit(std::move(node));
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

// Up to opset 6 the second operand was only broadcast where an attribute said so, along an axis.
absl::Status UpgradeOldBroadcast(int, Node node, Emitter& emitter) {
  const auto* broadcast = node.attributes.FindAs<int64_t>("broadcast");
  if (broadcast != nullptr && *broadcast != 0 && node.attributes.Find("axis") != nullptr) {
    return Unsupported(emitter, node, "broadcasting along an \"axis\"");
  }
  node.attributes.Erase("broadcast");
  node.attributes.Erase("axis");
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
  std::vector<int64_t> axes;
  for (int d = 2; d < x->rank(); ++d) axes.push_back(d - 1);
  if (axes.empty()) return emitter.Emit(std::move(node));
  const ValueId axes_input = emitter.AddInts(Prefix(emitter, node, "axes"), axes);
  const ValueId by_channel = emitter.AddValue(Prefix(emitter, node, "slope"));
  SLIPWAY_RETURN_IF_ERROR(
      emitter.Emit(Node{node.name, "Unsqueeze", {node.inputs[1], axes_input}, {by_channel}, {}}));
  node.inputs[1] = by_channel;
  return emitter.Emit(std::move(node));
}

// Up to opset 20 scale and bias were of groups, not of channels.
absl::Status UpgradeGroupNormalization(int, Node node, Emitter& emitter) {
  return Unsupported(emitter, node, "a scale for each group");
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
    {"Clip", 10, UpgradeClip},
    {"DFT", 19, UpgradeDft},
    {"Div", 6, UpgradeOldBroadcast},
    {"Dropout", 11, UpgradeDropout},
    {"Equal", 6, UpgradeOldBroadcast},
    {"Gemm", 6, UpgradeOldBroadcast},
    {"Greater", 6, UpgradeOldBroadcast},
    {"GridSample", 19, UpgradeGridSample},
    {"GroupNormalization", 20, UpgradeGroupNormalization},
    {"Hardmax", 12, UpgradeSoftmax},
    {"Less", 6, UpgradeOldBroadcast},
    {"LogSoftmax", 12, UpgradeSoftmax},
    {"Mul", 6, UpgradeOldBroadcast},
    {"Or", 6, UpgradeOldBroadcast},
    {"PRelu", 6, UpgradePRelu},
    {"Pad", 10, UpgradePad},
    {"Pow", 6, UpgradeOldBroadcast},
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
    {"Resize", 10, UpgradeResize},
    {"RoiAlign", 15, UpgradeRoiAlign},
    {"Scatter", 10, UpgradeScatter},
    {"Slice", 9, UpgradeSlice},
    {"Softmax", 12, UpgradeSoftmax},
    {"Split", 17, UpgradeSplit},
    {"Squeeze", 12, AxesToInput},
    {"Sub", 6, UpgradeOldBroadcast},
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

bool IsUpgraded(int opset, absl::string_view op) { return RowOf(opset, op) != nullptr; }

absl::Status EmitUpgraded(int opset, Node node, Emitter& emitter) {
  const Row* row = RowOf(opset, node.op);
  if (row == nullptr) return emitter.Emit(std::move(node));
  return row->upgrade(opset, std::move(node), emitter);
}

}  // namespace slipway
