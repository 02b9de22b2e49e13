#include "core/operators/recurrent.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

// What differs between the three.
struct Network {
  int gates;
  int activations;  // For one direction.
  const char* defaults[3];
  const char* option;  // Its own attribute; null for none.
};
constexpr Network kRnn = {1, 1, {"Tanh"}, nullptr};
constexpr Network kGru = {3, 2, {"Sigmoid", "Tanh"}, "linear_before_reset"};
constexpr Network kLstm = {4, 3, {"Sigmoid", "Tanh", "Tanh"}, "input_forget"};

struct NetworkRow {
  const char* name;
  const char* steps;
  const Network& network;
};
constexpr NetworkRow kNetworks[] = {{"RNN", "slipway.RNNSteps", kRnn},
                                    {"GRU", "slipway.GRUSteps", kGru},
                                    {"LSTM", "slipway.LSTMSteps", kLstm}};

const Network& NetworkOf(const NodeView& view) {
  for (const NetworkRow& row : kNetworks) {
    if (view.op() == row.name || view.op() == row.steps) return row.network;
  }
  return kLstm;
}

struct ActivationRow {
  const char* name;
  ActivationKind kind;
  int parameters;  // How many of alpha and beta it takes.
  double alpha;
  double beta;
};
constexpr ActivationRow kActivations[] = {
    {"Affine", ActivationKind::kAffine, 2, 1, 0},
    {"Elu", ActivationKind::kElu, 1, 1, 0},
    {"HardSigmoid", ActivationKind::kHardSigmoid, 2, 0.2, 0.5},
    {"LeakyRelu", ActivationKind::kLeakyRelu, 1, 0.01, 0},
    {"Relu", ActivationKind::kRelu, 0, 0, 0},
    {"ScaledTanh", ActivationKind::kScaledTanh, 2, 1, 1},
    {"Sigmoid", ActivationKind::kSigmoid, 0, 0, 0},
    {"Softplus", ActivationKind::kSoftplus, 0, 0, 0},
    {"Softsign", ActivationKind::kSoftsign, 0, 0, 0},
    {"Tanh", ActivationKind::kTanh, 0, 0, 0},
    {"ThresholdedRelu", ActivationKind::kThresholdedRelu, 1, 1, 0},
};

absl::Status DecodeActivations(const NodeView& view, const Network& network,
                               RecurrentView& recurrent) {
  const size_t needed = network.activations * recurrent.reverse.size();
  std::vector<std::string> names;
  if (view.has("activations")) {
    names = view.Strings("activations");
  } else {
    for (size_t i = 0; i < needed; ++i) names.push_back(network.defaults[i % network.activations]);
  }
  if (names.size() != needed) {
    return view.Error(
        absl::StrCat("\"activations\" has ", names.size(), " entries, ", needed, " are needed"));
  }
  // The lists have a number for each function that takes one, in their order.
  const std::vector<float> none;
  const std::vector<float>& alphas =
      view.has("activation_alpha") ? view.Floats("activation_alpha") : none;
  const std::vector<float>& betas =
      view.has("activation_beta") ? view.Floats("activation_beta") : none;
  size_t alpha = 0;
  size_t beta = 0;
  for (const std::string& name : names) {
    const ActivationRow* row = nullptr;
    for (const ActivationRow& one : kActivations) {
      if (absl::AsciiStrToLower(one.name) == absl::AsciiStrToLower(name)) row = &one;
    }
    if (row == nullptr) {
      return view.Error(absl::StrCat("the activation \"", name, "\" is not known"));
    }
    Activation activation = {row->kind, row->alpha, row->beta};
    if (row->parameters >= 1 && alpha < alphas.size()) activation.alpha = alphas[alpha++];
    if (row->parameters >= 2 && beta < betas.size()) activation.beta = betas[beta++];
    recurrent.activations.push_back(activation);
  }
  return absl::OkStatus();
}

absl::Status DecodeDirections(const NodeView& view, RecurrentView& recurrent) {
  const std::string& direction = view.String("direction");
  if (direction == "forward") {
    recurrent.reverse = {false};
  } else if (direction == "reverse") {
    recurrent.reverse = {true};
  } else if (direction == "bidirectional") {
    recurrent.reverse = {false, true};
  } else {
    return view.Error(absl::StrCat("\"direction\" is \"", direction,
                                   "\", not forward, reverse or bidirectional"));
  }
  return absl::OkStatus();
}

absl::Status RequireShape(const NodeView& view, int input, const Dimensions& wanted) {
  if (!view.has_input(input)) return absl::OkStatus();
  if (view.input_type(input).dtype() != view.input_type(0).dtype()) {
    return view.Error(absl::StrCat("input ", input, " is of type ",
                                   Name(view.input_type(input).dtype()), ", x of type ",
                                   Name(view.input_type(0).dtype())));
  }
  if (!view.Differ(DimensionsOf(view, input), wanted)) return absl::OkStatus();
  return view.Error(absl::StrCat("input ", input, " has the shape ",
                                 ToString(DimensionsOf(view, input)), " where ", ToString(wanted),
                                 " is needed"));
}

// What networks and their steps have in common: the inputs from `lengths` on, and the outputs. Peepholes have `peepholes`
// numbers.
absl::StatusOr<std::vector<ValueType>> StatesType(const NodeView& view,
                                                  const RecurrentView& recurrent, int lengths,
                                                  const Dimension& hidden,
                                                  const Dimension& peepholes) {
  const ValueType& x = view.input_type(0);
  const bool batch_first = recurrent.batch_first;
  const Dimension steps = x.dimension(batch_first ? 1 : 0);
  const Dimension batch = x.dimension(batch_first ? 0 : 1);
  const Dimension directions = static_cast<int64_t>(recurrent.reverse.size());
  if (view.has("hidden_size") && view.Differ(hidden, view.Int("hidden_size"))) {
    return view.Error(absl::StrCat("\"hidden_size\" is ", view.Int("hidden_size"),
                                   ", the weights have ", ToString(hidden)));
  }
  const Dimensions state =
      batch_first ? Dimensions{batch, directions, hidden} : Dimensions{directions, batch, hidden};
  if (view.has_input(lengths)) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, lengths, {DataType::kInt32}));
    if (view.Differ(DimensionsOf(view, lengths), {{batch}})) {
      return view.Error(absl::StrCat("input ", lengths, " has the shape ",
                                     ToString(DimensionsOf(view, lengths)), " where ",
                                     ToString(Dimensions{batch}), " is needed"));
    }
  }
  SLIPWAY_RETURN_IF_ERROR(RequireShape(view, lengths + 1, state));
  SLIPWAY_RETURN_IF_ERROR(RequireShape(view, lengths + 2, state));
  SLIPWAY_RETURN_IF_ERROR(RequireShape(view, lengths + 3, {directions, peepholes}));
  const Dimensions all = batch_first ? Dimensions{batch, steps, directions, hidden}
                                     : Dimensions{steps, directions, batch, hidden};
  std::vector<ValueType> types = {ValueType(x.dtype(), all), ValueType(x.dtype(), state)};
  if (&NetworkOf(view) == &kLstm) types.push_back(ValueType(x.dtype(), state));
  return types;
}

absl::StatusOr<std::vector<ValueType>> RecurrentType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_ASSIGN_OR_RETURN(const RecurrentView recurrent, DecodeRecurrent(view));
  for (const int input : {0, 1, 2}) SLIPWAY_RETURN_IF_ERROR(CheckRank(view, input, 3, 3));
  const Dimension width = view.input_type(0).dimension(2);
  const Dimension hidden = view.input_type(2).dimension(2);
  const Dimension directions = static_cast<int64_t>(recurrent.reverse.size());
  const Dimension rows = hidden * recurrent.gates;
  SLIPWAY_RETURN_IF_ERROR(RequireShape(view, 1, {directions, rows, width}));
  SLIPWAY_RETURN_IF_ERROR(RequireShape(view, 2, {directions, rows, hidden}));
  SLIPWAY_RETURN_IF_ERROR(RequireShape(view, 3, {directions, rows * 2}));
  return StatesType(view, recurrent, 4, hidden, hidden * 3);
}

absl::StatusOr<std::vector<ValueType>> StepsType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, {DataType::kFloat32}));
  SLIPWAY_ASSIGN_OR_RETURN(const RecurrentView recurrent, DecodeRecurrent(view));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 3, 3));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 4, 4));
  const Dimension hidden = view.input_type(1).dimension(2);
  const Dimension directions = static_cast<int64_t>(recurrent.reverse.size());
  const Dimension room = RoomOfGate(hidden);
  const Dimension panels = CeilDivide(room * recurrent.gates, kStatePanel);
  ValueType sums = view.input_type(0);
  const Dimension columns = directions * recurrent.gates * room;
  if (view.Differ(sums.dimension(2), columns)) {
    return view.Error(absl::StrCat("the sums of a step are ", ToString(sums.dimension(2)),
                                   " where ", ToString(columns), " are needed"));
  }
  SLIPWAY_RETURN_IF_ERROR(RequireShape(view, 1, {directions, panels, hidden, kStatePanel}));
  if (view.has_input(2) != (recurrent.gates == 3 && recurrent.option)) {
    return view.Error("the state has a bias of its own where the reset gate applies behind it");
  }
  SLIPWAY_RETURN_IF_ERROR(RequireShape(view, 2, {directions, room}));
  return StatesType(view, recurrent, 3, hidden, room * 3);
}

}  // namespace

Dimension RoomOfGate(const Dimension& hidden) {
  return CeilDivide(hidden, kGateBlock) * kGateBlock;
}

absl::StatusOr<RecurrentView> DecodeRecurrent(const NodeView& view) {
  const Network& network = NetworkOf(view);
  RecurrentView recurrent;
  recurrent.gates = network.gates;
  const int64_t layout = view.Int("layout");
  if (layout != 0 && layout != 1) {
    return view.Error(absl::StrCat("\"layout\" is ", layout, ", not 0 or 1"));
  }
  recurrent.batch_first = layout == 1;
  SLIPWAY_RETURN_IF_ERROR(DecodeDirections(view, recurrent));
  SLIPWAY_RETURN_IF_ERROR(DecodeActivations(view, network, recurrent));
  if (view.has("clip")) {
    recurrent.clip = view.Float("clip");
    if (!(*recurrent.clip >= 0)) {
      return view.Error(absl::StrCat("\"clip\" is ", *recurrent.clip, ", it must not be negative"));
    }
  }
  recurrent.option = network.option != nullptr && view.Int(network.option) != 0;
  return recurrent;
}

absl::Status RegisterRecurrentOperators(OperatorRegistry& registry) {
  for (const auto& [name, steps, network] : kNetworks) {
    const int states = &network == &kLstm ? 4 : 2;  // Inputs from the lengths on.
    OperatorSchema schema;
    schema.name = name;
    schema.min_inputs = 3;
    schema.max_inputs = 4 + states;
    schema.min_outputs = 0;
    schema.max_outputs = &network == &kLstm ? 3 : 2;
    schema.type_rule = RecurrentType;
    schema.attributes = {AttributeSchema{"activation_alpha", AttributeKind::kFloats},
                         AttributeSchema{"activation_beta", AttributeKind::kFloats},
                         AttributeSchema{"activations", AttributeKind::kStrings},
                         FloatAttribute("clip", std::nullopt),
                         StringAttribute("direction", "forward"),
                         IntAttribute("hidden_size", std::nullopt),
                         IntAttribute("layout", 0)};
    if (network.option != nullptr) schema.attributes.push_back(IntAttribute(network.option, 0));
    SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
    schema.name = steps;
    schema.min_inputs = 2;
    schema.max_inputs = 3 + states;
    schema.type_rule = StepsType;
    SLIPWAY_RETURN_IF_ERROR(registry.Add(std::move(schema)));
  }
  return absl::OkStatus();
}

}  // namespace slipway
