#include "core/operators/signal.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

// A number in [least, 2^31 - 1], as far as it is known.
absl::StatusOr<Dimension> Length(const NodeView& view, int input, absl::string_view what,
                                 int64_t least) {
  SLIPWAY_ASSIGN_OR_RETURN(const Dimension length, KnownWhole(view, input, what));
  if (!length.is_known() || (length.extent() >= least && length.extent() <= kMost)) return length;
  return view.Error(absl::StrCat("the ", what, " (input ", input, ") is ", length.extent()));
}

absl::StatusOr<DataType> OutputType(const NodeView& view) {
  const auto dtype = DataTypeFromNumber(view.Int("output_datatype"));
  if (!dtype.ok()) return view.Annotated(dtype.status());
  if (Contains(TypeSet::kAnyNumeric, *dtype)) return *dtype;
  return view.Unimplemented(absl::StrCat("elements of type ", Name(*dtype), " are not supported"));
}

// 1 for real numbers, 2 for complex ones: the last extent of a signal.
absl::StatusOr<Dimension> Parts(const NodeView& view) {
  const Dimension last = DimensionsOf(view, 0).back();
  if (!view.DiffersFromAll(last, {1, 2})) return last;
  return view.Error(absl::StrCat("x of shape ", ToString(DimensionsOf(view, 0)),
                                 " must hold 1 or 2 numbers last, a real and an imaginary part"));
}

// Signal and axis, whatever the axis is.
absl::Status CheckDft(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimension parts, Parts(view));
  const bool inverse = view.Int("inverse") != 0;
  if (view.Int("onesided") != 0 && view.Differ(parts, inverse ? 2 : 1)) {
    return view.Error(absl::StrCat(inverse ? "the inverse of " : "", "a one-sided transform of ",
                                   inverse ? "real" : "complex", " numbers is not defined"));
  }
  if (!view.has_input(2)) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(CheckIndices(view, 2));
  if (!view.Differ(NumElements(DimensionsOf(view, 2)), 1)) return absl::OkStatus();
  return view.Error(
      absl::StrCat("the axis (input 2) is ", ToString(view.input_type(2)), ", not one number"));
}

// Along an axis that is not known: every extent but the last may be another one.
Types OpenDftType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDft(view));
  Dimensions y(view.input_type(0).rank());
  y.back() = view.Int("onesided") != 0 && view.Int("inverse") != 0 ? 1 : 2;
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

Types DftType(const NodeView& view) {
  if (view.has_input(2) && view.constant(2) == nullptr) return OpenDftType(view);
  SLIPWAY_ASSIGN_OR_RETURN(const DftView dft, DecodeDft(view));
  Dimensions y = DimensionsOf(view, 0);
  y[dft.axis] = dft.onesided && !dft.inverse ? FloorDivide(dft.length, 2) + 1 : dft.length;
  y.back() = dft.onesided && dft.inverse ? 1 : 2;
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

Types StftType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 3, 3));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimension parts, Parts(view));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimension step, Length(view, 1, "frame step", 1));
  const Dimension signal = view.input_type(0).dimension(1);
  Dimension frame = signal;
  if (view.has_input(2)) {
    if (view.input_type(2).dtype() != view.input_type(0).dtype()) {
      return view.Error(absl::StrCat("the window (input 2) is ", ToString(view.input_type(2)),
                                     " and the signal ", ToString(view.input_type(0))));
    }
    SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 2, 1, 1));
    frame = view.input_type(2).dimension(0);
  }
  if (view.has_input(3)) {
    SLIPWAY_ASSIGN_OR_RETURN(const Dimension length, Length(view, 3, "frame length", 1));
    if (view.has_input(2) && view.Differ(frame, length)) {
      return view.Error(
          absl::StrCat("frames of ", ToString(length), " with a window of ", ToString(frame)));
    }
    frame = view.has_input(2) ? MorePrecise(frame, length) : length;
  }
  const bool onesided = view.Int("onesided") != 0;
  const Dimension frames = step.is_known() ? FloorDivide(signal - frame, step) + 1 : Dimension();
  if ((onesided && parts == Dimension(2)) || (frame.is_known() && frame.extent() < 1) ||
      (frames.is_known() && frames.extent() < 1)) {
    return view.Error(absl::StrCat(onesided ? "one-sided" : "two-sided", " frames of ",
                                   ToString(frame), " cannot be made of a signal of ",
                                   ToString(DimensionsOf(view, 0))));
  }
  return std::vector<ValueType>{ValueType(
      view.input_type(0).dtype(), {view.input_type(0).dimension(0), frames,
                                   onesided ? FloorDivide(frame, 2) + 1 : frame, Dimension(2)})};
}

Types WindowType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const Dimension size, Length(view, 0, "size", 0));
  SLIPWAY_ASSIGN_OR_RETURN(const DataType dtype, OutputType(view));
  return std::vector<ValueType>{ValueType(dtype, {size})};
}

Types MelWeightMatrixType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const Dimension bins, Length(view, 0, "number of bins", 0));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimension length, Length(view, 1, "length of the transform", 0));
  SLIPWAY_ASSIGN_OR_RETURN(const DataType dtype, OutputType(view));
  for (int i = 2; i < 5; ++i) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, i, i == 2 ? TypeSet::kInteger : TypeSet::kAnyFloat));
    if (view.Differ(NumElements(DimensionsOf(view, i)), 1)) {
      return view.Error(
          absl::StrCat("input ", i, " must be one number, not ", ToString(view.input_type(i))));
    }
  }
  return std::vector<ValueType>{ValueType(dtype, {FloorDivide(length, 2) + 1, bins})};
}

Types CausalConvType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 3, 3));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 3, 3));
  const std::string& activation = view.String("activation");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return view.Error(
        absl::StrCat("\"activation\" is \"", activation, "\", not none, silu or swish"));
  }
  const Dimensions x = DimensionsOf(view, 0);
  const Dimension kernel = view.input_type(1).dimension(2);
  const Dimensions state = {x[0], x[1], kernel - 1};
  if (view.Differ(DimensionsOf(view, 1), {x[1], Dimension(1), kernel}) ||
      (kernel.is_known() && kernel.extent() < 1) ||
      (view.has_input(2) && view.Differ(DimensionsOf(view, 2), {x[1]})) ||
      (view.has_input(3) && view.Differ(DimensionsOf(view, 3), state))) {
    return view.Error(absl::StrCat("weights, bias and state do not fit x of shape ", ToString(x),
                                   ": [", ToString(x[1]), ", 1, k], [", ToString(x[1]), "] and ",
                                   ToString(state), " are needed"));
  }
  const DataType dtype = view.input_type(0).dtype();
  return std::vector<ValueType>{ValueType(dtype, x), ValueType(dtype, state)};
}

}  // namespace

absl::StatusOr<DftView> DecodeDft(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDft(view));
  const int64_t rank = view.input_type(0).rank();
  DftView dft;
  dft.inverse = view.Int("inverse") != 0;
  dft.onesided = view.Int("onesided") != 0;
  int64_t axis = -2;
  if (view.has_input(2)) {
    SLIPWAY_ASSIGN_OR_RETURN(axis, ConstantWhole(view, 2, "axis"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(dft.axis, NormalizeAxis(view, axis, rank));
  if (dft.axis == rank - 1) return view.Error("the axis is that of real and imaginary parts");
  const Dimension extent = view.input_type(0).dimension(static_cast<int>(dft.axis));
  dft.length = dft.onesided && dft.inverse ? (extent - 1) * 2 : extent;
  if (view.has_input(1)) {
    SLIPWAY_ASSIGN_OR_RETURN(dft.length, Length(view, 1, "length", 1));
  }
  if (dft.length.is_known() && dft.length.extent() < 1) {
    return view.Error(absl::StrCat("a transform of ", dft.length.extent(), " numbers"));
  }
  return dft;
}

absl::Status RegisterSignalOperators(OperatorRegistry& registry) {
  const AttributeSchema dtype = IntAttribute("output_datatype", 1);
  const std::vector<AttributeSchema> window = {dtype, IntAttribute("periodic", 1)};
  const OperatorSchema schemas[] = {
      OpaqueSchema("BlackmanWindow", 1, WindowType, window),
      OpaqueSchema("CausalConvWithState", {2, 4}, CausalConvType,
                   {StringAttribute("activation", "none")}, 2),
      OpaqueSchema("DFT", {1, 3}, DftType,
                   {IntAttribute("inverse", 0), IntAttribute("onesided", 0)}),
      OpaqueSchema("HammingWindow", 1, WindowType, window),
      OpaqueSchema("HannWindow", 1, WindowType, window),
      OpaqueSchema("MelWeightMatrix", 5, MelWeightMatrixType, {dtype}),
      OpaqueSchema("STFT", {2, 4}, StftType, {IntAttribute("onesided", 1)}),
  };
  return AddAll(registry, schemas);
}

}  // namespace slipway
