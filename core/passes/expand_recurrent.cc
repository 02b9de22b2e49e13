// Recurrent networks as one product over all steps, and the steps.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/recurrent.h"
#include "core/passes/canonicalize_rules.h"
#include "core/passes/expand_rules.h"

namespace slipway {
namespace {

using Made = absl::StatusOr<ValueId>;

// Inputs of networks. Those from the lengths on are the steps', too.
enum Input : size_t { kX, kW, kR, kBias, kLengths, kInitialH, kInitialC, kPeepholes };
constexpr int64_t kHiddenOfGru = 2;  // The gate that a state's bias is for.

class NetworkExpansion {
 public:
  NetworkExpansion(const Node& node, const RecurrentView& network, GraphRewriter& rewriter)
      : node_(node),
        rewriter_(rewriter),
        name_(DisplayName(rewriter.graph(), node)),
        gates_(network.gates),
        directions_(static_cast<int64_t>(network.reverse.size())),
        has_state_bias_(network.gates == 3 && network.option) {}

  absl::StatusOr<bool> Run();

 private:
  bool has(Input input) const {
    return input < node_.inputs.size() && node_.inputs[input] != kNoValue;
  }
  const ValueType& type(Input input) const { return rewriter_.type(node_.inputs[input]); }
  std::string Named(absl::string_view part) const { return absl::StrCat(name_, "_", part); }
  bool IsServed() const;

  Made Reshape(ValueId x, const Dimensions& shape, absl::string_view part) {
    return AddReshape(rewriter_, x, shape, Named(part));
  }
  Made Transpose(ValueId x, std::vector<int64_t> perm, absl::string_view part) {
    return rewriter_.Add("Transpose", {x}, {{"perm", std::move(perm)}}, Named(part));
  }
  Made FillUp(ValueId x, int64_t axis, int64_t extent, absl::string_view part);
  Made Slice(ValueId x, const Shape& starts, const Shape& ends, const Shape& axes,
             absl::string_view part);
  Made Weights();
  Made Panels();
  Made Biases();
  Made SumsBias(ValueId biases);
  Made StateBias(ValueId biases);
  Made Peepholes();
  Made Sums(ValueId bias);

  const Node& node_;
  GraphRewriter& rewriter_;
  const std::string name_;
  const int64_t gates_;
  const int64_t directions_;
  const bool has_state_bias_;
  int64_t hidden_ = 0;
  int64_t room_ = 0;  // Of a gate.
};

bool NetworkExpansion::IsServed() const {
  for (const Input input : {kW, kR}) {
    if (!type(input).is_static() || NumElements(type(input).shape()) == 0) return false;
  }
  for (const Input input : {kBias, kPeepholes}) {
    if (has(input) && !type(input).is_static()) return false;
  }
  const Dimension elements = NumElements(type(kX).dimensions());
  return type(kX).dtype() == DataType::kFloat32 && !elements.is_unknown() &&
         elements != Dimension(0);
}

// Zeros behind an axis up to `extent`.
Made NetworkExpansion::FillUp(ValueId x, int64_t axis, int64_t extent, absl::string_view part) {
  const Shape shape = rewriter_.type(x).shape();
  if (shape[axis] == extent) return x;
  Shape pads(2 * shape.size(), 0);
  pads[shape.size() + axis] = extent - shape[axis];
  const ValueId constant = ShapeConstant(rewriter_, Named(absl::StrCat(part, "_pads")), pads);
  return rewriter_.Add("Pad", {x, constant}, {}, Named(part));
}

Made NetworkExpansion::Slice(ValueId x, const Shape& starts, const Shape& ends, const Shape& axes,
                             absl::string_view part) {
  const auto constant = [&](const char* what, const Shape& numbers) {
    return ShapeConstant(rewriter_, Named(absl::StrCat(part, what)), numbers);
  };
  return rewriter_.Add(
      "Slice", {x, constant("_starts", starts), constant("_ends", ends), constant("_axes", axes)},
      {}, Named(part));
}

// [width, directions * gates * room].
Made NetworkExpansion::Weights() {
  const int64_t width = type(kW).shape()[2];
  SLIPWAY_ASSIGN_OR_RETURN(
      ValueId w, Reshape(node_.inputs[kW], {directions_ * gates_, hidden_, width}, "w_gates"));
  SLIPWAY_ASSIGN_OR_RETURN(w, FillUp(w, 1, room_, "w_filled"));
  SLIPWAY_ASSIGN_OR_RETURN(w, Reshape(w, {directions_ * gates_ * room_, width}, "w_rows"));
  return Transpose(w, {1, 0}, "w");
}

Made NetworkExpansion::Panels() {
  const int64_t panels = (gates_ * room_ + kStatePanel - 1) / kStatePanel;
  SLIPWAY_ASSIGN_OR_RETURN(
      ValueId r, Reshape(node_.inputs[kR], {directions_ * gates_, hidden_, hidden_}, "r_gates"));
  SLIPWAY_ASSIGN_OR_RETURN(r, FillUp(r, 1, room_, "r_filled"));
  SLIPWAY_ASSIGN_OR_RETURN(r, Reshape(r, {directions_, gates_ * room_, hidden_}, "r_rows"));
  SLIPWAY_ASSIGN_OR_RETURN(r, FillUp(r, 1, panels * kStatePanel, "r_whole"));
  SLIPWAY_ASSIGN_OR_RETURN(r, Reshape(r, {directions_, panels, kStatePanel, hidden_}, "r_panels"));
  return Transpose(r, {0, 1, 3, 2}, "r");
}

// [directions, of the input and of the state, gates, room].
Made NetworkExpansion::Biases() {
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId biases,
      Reshape(node_.inputs[kBias], {directions_, 2, gates_, hidden_}, "biases_by_gate"));
  return FillUp(biases, 3, room_, "biases");
}

// [directions * gates * room].
Made NetworkExpansion::SumsBias(ValueId biases) {
  const ValueId axes = ShapeConstant(rewriter_, Named("bias_axes"), {1});
  SLIPWAY_ASSIGN_OR_RETURN(
      ValueId bias,
      rewriter_.Add("ReduceSum", {biases, axes}, {{"keepdims", int64_t{1}}}, Named("bias_sum")));
  if (has_state_bias_) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId first,
                             Slice(bias, {0}, {kHiddenOfGru}, {2}, "bias_first"));
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId last,
                             Slice(biases, {0, kHiddenOfGru}, {1, gates_}, {1, 2}, "bias_last"));
    SLIPWAY_ASSIGN_OR_RETURN(
        bias, rewriter_.Add("Concat", {first, last}, {{"axis", int64_t{2}}}, Named("bias_gates")));
  }
  return Reshape(bias, {directions_ * gates_ * room_}, "bias");
}

// [directions, room].
Made NetworkExpansion::StateBias(ValueId biases) {
  if (biases == kNoValue) {
    return rewriter_.Constant(Named("state_bias"),
                              Tensor::Zeros(DataType::kFloat32, {directions_, room_}));
  }
  SLIPWAY_ASSIGN_OR_RETURN(
      const ValueId bias, Slice(biases, {1, kHiddenOfGru}, {2, gates_}, {1, 2}, "state_bias_gate"));
  return Reshape(bias, {directions_, room_}, "state_bias");
}

// [directions, 3 * room].
Made NetworkExpansion::Peepholes() {
  SLIPWAY_ASSIGN_OR_RETURN(
      ValueId p, Reshape(node_.inputs[kPeepholes], {directions_, 3, hidden_}, "peephole_gates"));
  SLIPWAY_ASSIGN_OR_RETURN(p, FillUp(p, 2, room_, "peepholes_filled"));
  return Reshape(p, {directions_, 3 * room_}, "peepholes");
}

// x * W^T + bias, of all steps.
Made NetworkExpansion::Sums(ValueId bias) {
  const Dimensions x = type(kX).dimensions();
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId rows,
                           Reshape(node_.inputs[kX], {x[0] * x[1], x[2]}, "x_rows"));
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId w, Weights());
  std::vector<ValueId> inputs = {rows, w};
  if (bias != kNoValue) inputs.push_back(bias);
  SLIPWAY_ASSIGN_OR_RETURN(const ValueId product,
                           rewriter_.Add("Gemm", inputs, {}, Named("input")));
  return Reshape(product, {x[0], x[1], directions_ * gates_ * room_}, "sums");
}

absl::StatusOr<bool> NetworkExpansion::Run() {
  if (!IsServed()) return false;
  hidden_ = type(kR).shape()[2];
  room_ = RoomOfGate(hidden_).extent();
  ValueId biases = kNoValue;
  ValueId bias = kNoValue;
  if (has(kBias)) {
    SLIPWAY_ASSIGN_OR_RETURN(biases, Biases());
    SLIPWAY_ASSIGN_OR_RETURN(bias, SumsBias(biases));
  }
  std::vector<ValueId> inputs(3, kNoValue);
  SLIPWAY_ASSIGN_OR_RETURN(inputs[0], Sums(bias));
  SLIPWAY_ASSIGN_OR_RETURN(inputs[1], Panels());
  if (has_state_bias_) {
    SLIPWAY_ASSIGN_OR_RETURN(inputs[2], StateBias(biases));
  }
  for (size_t i = kLengths; i < node_.inputs.size(); ++i) inputs.push_back(node_.inputs[i]);
  if (has(kPeepholes)) {
    SLIPWAY_ASSIGN_OR_RETURN(inputs.back(), Peepholes());
  }
  while (inputs.back() == kNoValue) inputs.pop_back();
  Node steps = node_;
  steps.op = absl::StrCat("slipway.", node_.op, "Steps");
  rewriter_.Keep(std::move(steps), std::move(inputs));
  return true;
}

absl::StatusOr<bool> ExpandRecurrent(const Node& node, GraphRewriter& rewriter,
                                     const OperatorRegistry& registry) {
  RecurrentView network;
  {
    SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                             NodeView::Create(rewriter.graph(), node, registry));
    SLIPWAY_ASSIGN_OR_RETURN(network, DecodeRecurrent(view));
  }
  return NetworkExpansion(node, network, rewriter).Run();
}

}  // namespace

ExpandRule RecurrentRule() { return ExpandRecurrent; }

}  // namespace slipway
