#include "core/operators/convolution.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/operators/small_numbers.h"
#include "core/operators/strassen.h"

namespace slipway {
namespace {

using OpenConvView = BasicConvView<Dimension>;

absl::Status CheckBias(const NodeView& view, const Dimension& channels) {
  if (!view.has_input(2) || !view.Differ(DimensionsOf(view, 2), {channels})) {
    return absl::OkStatus();
  }
  return view.Error(absl::StrCat("the bias has the shape ", ToString(DimensionsOf(view, 2)),
                                 " where [", ToString(channels), "] is needed"));
}

absl::Status CheckGroups(const NodeView& view, const OpenConvView& conv,
                         const Dimension& channels_per_group) {
  if (!Divides(view, conv.group, conv.in_channels) ||
      !Divides(view, conv.group, conv.out_channels) ||
      view.Differ(FloorDivide(conv.in_channels, conv.group), channels_per_group)) {
    return view.Error(absl::StrCat("x has ", ToString(conv.in_channels), " channels, w takes ",
                                   ToString(channels_per_group), " and makes ",
                                   ToString(conv.out_channels), " with ", conv.group,
                                   " groups: these do not fit"));
  }
  return absl::OkStatus();
}

// The spatial dimensions of the weights are `kernel`, those of x begin at dimension 2.
absl::Status DecodeSpatial(const NodeView& view, const Dimensions& kernel, OpenConvView& conv) {
  if (view.has("kernel_shape") && view.Differ(kernel, ToDimensions(view.Ints("kernel_shape")))) {
    return view.Error(absl::StrCat("\"kernel_shape\" is ", ToString(view.Ints("kernel_shape")),
                                   " but w has ", ToString(kernel)));
  }
  SLIPWAY_ASSIGN_OR_RETURN(conv.window,
                           DecodeWindow(view, kernel, DimensionsOf(view, 0, 2, kernel.size())));
  return absl::OkStatus();
}

constexpr SmallNumbers kDepthwiseSmallNumbers[] = {
    {DataType::kBfloat16, DataType::kFloat32, DataType::kFloat32, 1, true},
    {DataType::kUint8, DataType::kInt8, DataType::kInt32, 1, true},
};

// Null where y is of x's type.
const SmallNumbers* FindSmallNumbers(const NodeView& view) {
  const DataType x = view.input_type(0).dtype();
  if (view.op() == "slipway.ConvNCHWc") return FindSmallNumbers(kPackedSmallNumbers, x);
  const bool is_depthwise = view.op() == "slipway.DepthwiseConvNCHWc";
  const SmallNumbers* const found =
      is_depthwise ? FindSmallNumbers(kDepthwiseSmallNumbers, x) : nullptr;
  if (found != nullptr) return found;
  const bool may_be_short = view.op() == "slipway.IntegerConv" || is_depthwise;
  return may_be_short && x == kShorts.x ? &kShorts : nullptr;
}

bool IsInteger(const NodeView& view) {
  const SmallNumbers* const numbers = FindSmallNumbers(view);
  return numbers != nullptr && numbers->y == DataType::kInt32;
}

int64_t TermsOf(const NodeView& view) {
  const SmallNumbers* const numbers = FindSmallNumbers(view);
  return numbers == nullptr ? 1 : numbers->terms;
}

absl::Status CheckTypes(const NodeView& view) {
  const SmallNumbers* const numbers = FindSmallNumbers(view);
  if (numbers != nullptr && numbers->has_bias) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 1, {numbers->w}));
    if (view.has_input(2)) SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 2, {numbers->y}));
    if (view.input_type(0).rank() == 5) return absl::OkStatus();
    return view.Unimplemented(
        absl::StrCat("x of type ", Name(numbers->x), " has to be in blocks of channels"));
  }
  if (view.op() == "slipway.IntegerConv" || numbers != nullptr) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, {DataType::kInt16}));
    if (view.has_input(2)) return view.Error("a convolution of integers has no bias");
  } else {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  }
  return CheckSameDtypes(view);
}

absl::StatusOr<OpenConvView> DecodePlain(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 3, 5));
  const int rank = view.input_type(0).rank();
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, rank, rank));
  OpenConvView conv;
  conv.batch = view.input_type(0).dimension(0);
  conv.in_channels = view.input_type(0).dimension(1);
  conv.out_channels = view.input_type(1).dimension(0);
  conv.group = view.Int("group");
  conv.has_bias = view.has_input(2);
  SLIPWAY_RETURN_IF_ERROR(CheckGroups(view, conv, view.input_type(1).dimension(1)));
  SLIPWAY_RETURN_IF_ERROR(CheckBias(view, conv.out_channels));
  SLIPWAY_RETURN_IF_ERROR(DecodeSpatial(view, DimensionsOf(view, 1, 2), conv));
  return conv;
}

// What the blocked forms need to know: channels and weights.
absl::Status RequireChannels(const NodeView& view) {
  const ValueType& x = view.input_type(0);
  if (x.dimension(1).is_known() && x.dimension(x.rank() - 1).is_known() &&
      view.input_type(1).is_static()) {
    return absl::OkStatus();
  }
  return view.Unimplemented(absl::StrCat("x of ", ToString(x), " and w of ",
                                         ToString(view.input_type(1)), " are not supported"));
}

absl::Status DecodeZero(const NodeView& view, OpenConvView& conv) {
  if (view.input_type(0).dtype() == DataType::kUint8) conv.zero = view.Int("zero");
  if (conv.zero >= 0 && conv.zero <= 255) return absl::OkStatus();
  return view.Error(absl::StrCat("\"zero\" is ", conv.zero, ", which u8 does not hold"));
}

absl::StatusOr<OpenConvView> DecodeBlocked(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 4, 5));
  SLIPWAY_RETURN_IF_ERROR(RequireChannels(view));
  const Dimensions x = DimensionsOf(view, 0);
  const bool plain_x = x.size() == 4;
  const int64_t terms = TermsOf(view);
  const int w_rank = (plain_x ? 5 : 6) + (terms > 1 ? 1 : 0);
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, w_rank, w_rank));
  absl::Span<const int64_t> w = view.input_shape(1);
  if (terms > 1 && w.back() != terms) {
    return view.Error(
        absl::StrCat("w has ", w.back(), " numbers innermost where ", terms, " are needed"));
  }
  if (terms > 1) w.remove_suffix(1);
  const int64_t in_block_of_w = plain_x ? 1 : w[4] * terms;
  const Dimensions kernel = {w[2], w[3] * (plain_x ? terms : 1)};
  OpenConvView conv;
  conv.terms = terms;
  SLIPWAY_RETURN_IF_ERROR(DecodeZero(view, conv));
  conv.batch = x[0];
  conv.in_block = plain_x ? 1 : x[4].extent();
  conv.out_block = w.back();
  const int64_t out_channels = w[0] * conv.out_block;
  conv.in_channels = x[1].extent() * conv.in_block;
  conv.out_channels = out_channels;
  conv.group = view.Int("group");
  conv.has_bias = view.has_input(2);
  if (in_block_of_w != conv.in_block) {
    return view.Error(
        absl::StrCat("x has blocks of ", conv.in_block, " channels, w of ", in_block_of_w));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckGroups(view, conv, w[1] * conv.in_block));
  if (conv.out_block < 1 || (out_channels / conv.group) % conv.out_block != 0) {
    return view.Error(absl::StrCat("groups of ", out_channels / conv.group,
                                   " output channels do not divide into blocks of ",
                                   conv.out_block));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckBias(view, conv.out_channels));
  SLIPWAY_RETURN_IF_ERROR(DecodeSpatial(view, kernel, conv));
  return conv;
}

absl::StatusOr<OpenConvView> DecodeDepthwise(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 5, 5));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 4, 4));
  SLIPWAY_RETURN_IF_ERROR(RequireChannels(view));
  const Dimensions x = DimensionsOf(view, 0);
  const absl::Span<const int64_t> w = view.input_shape(1);
  OpenConvView conv;
  SLIPWAY_RETURN_IF_ERROR(DecodeZero(view, conv));
  conv.batch = x[0];
  conv.in_block = conv.out_block = x[4].extent();
  conv.group = x[1].extent() * x[4].extent();
  conv.in_channels = conv.out_channels = conv.group;
  conv.has_bias = view.has_input(2);
  if (w[0] != x[1].extent() || w[3] != x[4].extent()) {
    return view.Error(
        absl::StrCat("w of shape ", ToString(w), " does not fit x of shape ", ToString(x)));
  }
  if (view.has("group") && view.Int("group") != conv.group) {
    return view.Error(
        absl::StrCat("\"group\" is ", view.Int("group"), " where ", conv.group, " is needed"));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckBias(view, conv.out_channels));
  SLIPWAY_RETURN_IF_ERROR(DecodeSpatial(view, DimensionsOf(view, 1, 1, 2), conv));
  return conv;
}

// What a convolution of f32 has of its x, whose w is transformed.
absl::StatusOr<OpenConvView> DecodeTransformed(const NodeView& view, int w_rank) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, {DataType::kFloat32}));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 5, 5));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, w_rank, w_rank));
  SLIPWAY_RETURN_IF_ERROR(RequireChannels(view));
  const Dimensions x = DimensionsOf(view, 0);
  OpenConvView conv;
  conv.batch = x[0];
  conv.in_block = x[4].extent();
  conv.in_channels = x[1].extent() * conv.in_block;
  conv.has_bias = view.has_input(2);
  return conv;
}

absl::StatusOr<OpenConvView> DecodeWinograd(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(OpenConvView conv, DecodeTransformed(view, 6));
  const Dimensions x = DimensionsOf(view, 0);
  const absl::Span<const int64_t> w = view.input_shape(1);
  conv.out_block = w[5];
  conv.out_channels = w[2] * conv.out_block;
  conv.winograd_tile = w[0];
  if (w[0] != w[1] || (w[0] != 4 && w[0] != 6 && w[0] != 8)) {
    return view.Error(absl::StrCat("w is transformed for tiles of ", w[0], " x ", w[1],
                                   " inputs; there are 4 x 4, 6 x 6 and 8 x 8"));
  }
  if (w[3] != x[1].extent() || w[4] != conv.in_block) {
    return view.Error(
        absl::StrCat("w of shape ", ToString(w), " does not fit x of shape ", ToString(x)));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckBias(view, conv.out_channels));
  SLIPWAY_RETURN_IF_ERROR(DecodeSpatial(view, {3, 3}, conv));
  return conv;
}

absl::StatusOr<OpenConvView> DecodeStrassen(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(OpenConvView conv, DecodeTransformed(view, 4));
  const Dimensions x = DimensionsOf(view, 0);
  const absl::Span<const int64_t> w = view.input_shape(1);
  conv.out_block = w[3];
  int64_t out_channels = 0;
  if (w[1] != kStrassenProducts || w[2] < 1 || w[3] < 1 ||
      __builtin_mul_overflow(w[0], 2 * w[3], &out_channels)) {
    return view.Error(absl::StrCat("w has the shape ", ToString(w), " where [Co/2/co, ",
                                   kStrassenProducts, ", Ci/2, co] is needed"));
  }
  conv.out_channels = out_channels;
  if (x[1].extent() % 2 != 0 || w[2] != x[1].extent() / 2 * conv.in_block) {
    return view.Error(
        absl::StrCat("w of shape ", ToString(w), " does not fit x of shape ", ToString(x)));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckBias(view, conv.out_channels));
  SLIPWAY_RETURN_IF_ERROR(DecodeSpatial(view, {1, 1}, conv));
  return conv;
}

absl::StatusOr<OpenConvView> DecodeOpenConv(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckTypes(view));
  if (view.op() == "slipway.ConvNCHWc") return DecodeBlocked(view);
  if (view.op() == "slipway.DepthwiseConvNCHWc") return DecodeDepthwise(view);
  if (view.op() == "slipway.WinogradConvNCHWc") return DecodeWinograd(view);
  if (view.op() == "slipway.StrassenConvNCHWc") return DecodeStrassen(view);
  return DecodePlain(view);
}

absl::StatusOr<std::vector<ValueType>> ConvType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const OpenConvView conv, DecodeOpenConv(view));
  const bool is_plain = view.op() == "Conv" || view.op() == "slipway.IntegerConv";
  Dimensions y = {conv.batch, FloorDivide(conv.out_channels, conv.out_block)};
  y.insert(y.end(), conv.window.output.begin(), conv.window.output.end());
  if (!is_plain) y.push_back(conv.out_block);
  const SmallNumbers* const numbers = FindSmallNumbers(view);
  const DataType dtype = numbers != nullptr ? numbers->y : view.input_type(0).dtype();
  return std::vector<ValueType>{ValueType(dtype, y)};
}

}  // namespace

absl::StatusOr<ConvView> DecodeConv(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const OpenConvView conv, DecodeOpenConv(view));
  if (!conv.in_channels.is_known() || !conv.out_channels.is_known()) {
    return view.Unimplemented("a number of channels that is not known is not supported");
  }
  SLIPWAY_ASSIGN_OR_RETURN(Window window, KnownWindow(view, conv.window));
  return ConvView{ExtentOrOpen(conv.batch),
                  conv.in_channels.extent(),
                  conv.out_channels.extent(),
                  conv.group,
                  conv.in_block,
                  conv.out_block,
                  conv.winograd_tile,
                  conv.has_bias,
                  IsInteger(view),
                  conv.terms,
                  conv.zero,
                  std::move(window)};
}

absl::Status RegisterConvolutionOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.min_inputs = 2;
  schema.max_inputs = 3;
  schema.pattern = Pattern::kOutFusable;
  schema.keeps_images = true;
  schema.type_rule = ConvType;
  schema.name = "slipway.StrassenConvNCHWc";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.attributes = {IntsAttribute("pads")};
  schema.name = "slipway.WinogradConvNCHWc";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.attributes = {IntsAttribute("kernel_shape"), IntsAttribute("strides"),
                       IntsAttribute("pads"), IntsAttribute("dilations")};

  OperatorSchema depthwise = schema;
  depthwise.name = "slipway.DepthwiseConvNCHWc";
  depthwise.attributes.push_back(IntAttribute("group", std::nullopt));
  depthwise.attributes.push_back(IntAttribute("zero", 0));
  SLIPWAY_RETURN_IF_ERROR(registry.Add(depthwise));

  schema.attributes.push_back(IntAttribute("group", 1));
  OperatorSchema blocked = schema;
  blocked.name = "slipway.ConvNCHWc";
  blocked.attributes.push_back(IntAttribute("zero", 0));
  SLIPWAY_RETURN_IF_ERROR(registry.Add(blocked));

  schema.attributes.push_back(StringAttribute("auto_pad", "NOTSET"));
  schema.name = "Conv";
  schema.layout = {LayoutRole::kConvolution, "slipway.ConvNCHWc", "slipway.DepthwiseConvNCHWc"};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.name = "slipway.IntegerConv";
  schema.max_inputs = 2;
  return registry.Add(schema);
}

}  // namespace slipway
