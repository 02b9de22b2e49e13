#include "core/operators/convolution.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

absl::Status CheckBias(const NodeView& view, int64_t channels) {
  if (!view.has_input(2) || view.input_shape(2) == Shape{channels}) return absl::OkStatus();
  return view.Error(absl::StrCat("the bias has the shape ", ToString(view.input_shape(2)),
                                 " where [", channels, "] is needed"));
}

absl::Status CheckGroups(const NodeView& view, const ConvView& conv, int64_t channels_per_group) {
  if (conv.group < 1 || conv.out_channels % conv.group != 0 || conv.in_channels % conv.group != 0 ||
      conv.in_channels / conv.group != channels_per_group) {
    return view.Error(absl::StrCat("x has ", conv.in_channels, " channels, w takes ",
                                   channels_per_group, " and makes ", conv.out_channels, " with ",
                                   conv.group, " groups: these do not fit"));
  }
  return absl::OkStatus();
}

absl::Status CheckKernelShape(const NodeView& view, absl::Span<const int64_t> kernel) {
  if (!view.has("kernel_shape") || view.Ints("kernel_shape") == kernel) return absl::OkStatus();
  return view.Error(absl::StrCat("\"kernel_shape\" is ", ToString(view.Ints("kernel_shape")),
                                 " but w has ", ToString(kernel)));
}

absl::Status CheckTypes(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kFloat));
  return CheckSameDtypes(view);
}

absl::StatusOr<ConvView> DecodePlain(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 3, 5));
  const int rank = static_cast<int>(view.input_shape(0).size());
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, rank, rank));
  const absl::Span<const int64_t> x = view.input_shape(0);
  const absl::Span<const int64_t> w = view.input_shape(1);
  ConvView conv;
  conv.batch = x[0];
  conv.in_channels = x[1];
  conv.out_channels = w[0];
  conv.group = view.Int("group");
  conv.has_bias = view.has_input(2);
  SLIPWAY_RETURN_IF_ERROR(CheckGroups(view, conv, w[1]));
  SLIPWAY_RETURN_IF_ERROR(CheckBias(view, conv.out_channels));
  SLIPWAY_RETURN_IF_ERROR(CheckKernelShape(view, w.subspan(2)));
  SLIPWAY_ASSIGN_OR_RETURN(conv.window, DecodeWindow(view, w.subspan(2), x.subspan(2)));
  return conv;
}

absl::StatusOr<ConvView> DecodeBlocked(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 4, 5));
  const absl::Span<const int64_t> x = view.input_shape(0);
  const bool plain_x = x.size() == 4;
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, plain_x ? 5 : 6, plain_x ? 5 : 6));
  const absl::Span<const int64_t> w = view.input_shape(1);
  ConvView conv;
  conv.batch = x[0];
  conv.in_block = plain_x ? 1 : x[4];
  conv.out_block = w.back();
  conv.in_channels = x[1] * conv.in_block;
  conv.out_channels = w[0] * conv.out_block;
  conv.group = view.Int("group");
  conv.has_bias = view.has_input(2);
  if (!plain_x && w[4] != conv.in_block) {
    return view.Error(absl::StrCat("x has blocks of ", conv.in_block, " channels, w of ", w[4]));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckGroups(view, conv, w[1] * conv.in_block));
  if (conv.out_block < 1 || (conv.out_channels / conv.group) % conv.out_block != 0) {
    return view.Error(absl::StrCat("groups of ", conv.out_channels / conv.group,
                                   " output channels do not divide into blocks of ",
                                   conv.out_block));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckBias(view, conv.out_channels));
  SLIPWAY_RETURN_IF_ERROR(CheckKernelShape(view, w.subspan(2, 2)));
  SLIPWAY_ASSIGN_OR_RETURN(conv.window, DecodeWindow(view, w.subspan(2, 2), x.subspan(2, 2)));
  return conv;
}

absl::StatusOr<ConvView> DecodeDepthwise(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 5, 5));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 4, 4));
  const absl::Span<const int64_t> x = view.input_shape(0);
  const absl::Span<const int64_t> w = view.input_shape(1);
  ConvView conv;
  conv.batch = x[0];
  conv.in_block = conv.out_block = x[4];
  conv.in_channels = conv.out_channels = conv.group = x[1] * x[4];
  conv.has_bias = view.has_input(2);
  if (w[0] != x[1] || w[3] != x[4]) {
    return view.Error(
        absl::StrCat("w of shape ", ToString(w), " does not fit x of shape ", ToString(x)));
  }
  if (view.has("group") && view.Int("group") != conv.group) {
    return view.Error(
        absl::StrCat("\"group\" is ", view.Int("group"), " where ", conv.group, " is needed"));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckBias(view, conv.out_channels));
  SLIPWAY_RETURN_IF_ERROR(CheckKernelShape(view, w.subspan(1, 2)));
  SLIPWAY_ASSIGN_OR_RETURN(conv.window, DecodeWindow(view, w.subspan(1, 2), x.subspan(2, 2)));
  return conv;
}

absl::StatusOr<std::vector<TensorType>> ConvType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const ConvView conv, DecodeConv(view));
  TensorType type{view.input_type(0).dtype, {conv.batch, conv.out_channels / conv.out_block}};
  type.shape.insert(type.shape.end(), conv.window.output.begin(), conv.window.output.end());
  if (view.op() != "Conv") type.shape.push_back(conv.out_block);
  return std::vector<TensorType>{type};
}

}  // namespace

absl::StatusOr<ConvView> DecodeConv(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckTypes(view));
  if (view.op() == "slipway.ConvNCHWc") return DecodeBlocked(view);
  if (view.op() == "slipway.DepthwiseConvNCHWc") return DecodeDepthwise(view);
  return DecodePlain(view);
}

absl::Status RegisterConvolutionOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.min_inputs = 2;
  schema.max_inputs = 3;
  schema.pattern = Pattern::kOutFusable;
  schema.type_rule = ConvType;
  schema.attributes = {IntsAttribute("kernel_shape"), IntsAttribute("strides"),
                       IntsAttribute("pads"), IntsAttribute("dilations")};

  OperatorSchema depthwise = schema;
  depthwise.name = "slipway.DepthwiseConvNCHWc";
  depthwise.attributes.push_back(IntAttribute("group", std::nullopt));
  SLIPWAY_RETURN_IF_ERROR(registry.Add(depthwise));

  schema.attributes.push_back(IntAttribute("group", 1));
  schema.name = "slipway.ConvNCHWc";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.attributes.push_back(StringAttribute("auto_pad", "NOTSET"));
  schema.name = "Conv";
  schema.layout = {LayoutRole::kConvolution, "slipway.ConvNCHWc", "slipway.DepthwiseConvNCHWc"};
  return registry.Add(schema);
}

}  // namespace slipway
