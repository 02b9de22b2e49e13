#include "core/operators/deconvolution.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

using OpenView = BasicConvTransposeView<Dimension>;

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

// A list attribute of `count` entries in [least, 2^31 - 1], or as many times what is implied.
absl::StatusOr<std::vector<int64_t>> IntsOr(const NodeView& view, const char* name, size_t count,
                                            int64_t implied, int64_t least) {
  if (!view.has(name)) return std::vector<int64_t>(count, implied);
  const std::vector<int64_t>& values = view.Ints(name);
  bool fits = values.size() == count;
  for (const int64_t value : values) fits = fits && value >= least && value <= kMost;
  if (fits) return values;
  return view.Error(absl::StrCat("\"", name, "\" is ", ToString(values), " where ", count,
                                 " numbers of at least ", least, " are needed"));
}

absl::Status CheckChannels(const NodeView& view, int64_t group) {
  const Dimension channels = view.input_type(0).dimension(1);
  const Dimension made = view.input_type(1).dimension(1) * group;
  if (!Divides(view, group, channels) || view.Differ(channels, view.input_type(1).dimension(0)) ||
      (view.has_input(2) && view.Differ(DimensionsOf(view, 2), {made}))) {
    return view.Error(absl::StrCat(
        "x of shape ", ToString(DimensionsOf(view, 0)), " and w of shape ",
        ToString(DimensionsOf(view, 1)),
        view.has_input(2) ? absl::StrCat(" and a bias of ", ToString(DimensionsOf(view, 2))) : "",
        " with ", group, " groups do not fit"));
  }
  return absl::OkStatus();
}

// Pads and extents of y, which follow from each other.
absl::Status DecodeOutput(const NodeView& view, BasicWindow<Dimension>& window) {
  const size_t rank = window.output.size();
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> more,
                           IntsOr(view, "output_padding", rank, 0, 0));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, IntsOr(view, "pads", 2 * rank, 0, 0));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> wanted,
                           IntsOr(view, "output_shape", rank, 0, 0));
  const std::string& auto_pad = view.String("auto_pad");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "NOTSET" && auto_pad != "VALID") {
    return view.Error(absl::StrCat("\"auto_pad\" is \"", auto_pad,
                                   "\", not NOTSET, VALID, SAME_UPPER or SAME_LOWER"));
  }
  for (size_t d = 0; d < rank; ++d) {
    const Dimension& x = window.output[d];
    const Dimension whole =
        (x - 1) * window.strides[d] + ((window.kernel[d] - 1) * window.dilations[d] + 1) + more[d];
    Dimension y;
    if (view.has("output_shape") || same) {
      y = view.has("output_shape") ? Dimension(wanted[d]) : x * window.strides[d];
      // What is missing of the extent that is asked for is not padded but added behind.
      const Dimension total = Max(whole - y, 0);
      const Dimension half = FloorDivide(total, 2);
      window.pads_begin.push_back(auto_pad == "SAME_UPPER" ? half : total - half);
      window.pads_end.push_back(total - window.pads_begin.back());
    } else {
      const bool none = auto_pad == "VALID";
      window.pads_begin.push_back(none ? 0 : pads[d]);
      window.pads_end.push_back(none ? 0 : pads[rank + d]);
      y = whole - window.pads_begin.back() - window.pads_end.back();
    }
    if (y.is_known() && (y.extent() < 0 || y.extent() > kMost)) {
      return view.Error(absl::StrCat("spatial dimension ", d, " of ", ToString(x), " would become ",
                                     ToString(y)));
    }
    window.input.push_back(y);
  }
  return absl::OkStatus();
}

absl::StatusOr<OpenView> DecodeOpen(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 3, 5));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, view.input_type(0).rank(), view.input_type(0).rank()));
  OpenView transposed;
  transposed.group = view.Int("group");
  SLIPWAY_RETURN_IF_ERROR(CheckChannels(view, transposed.group));
  BasicWindow<Dimension>& window = transposed.window;
  window.kernel = DimensionsOf(view, 1, 2);
  window.output = DimensionsOf(view, 0, 2);
  const size_t rank = window.kernel.size();
  if (view.has("kernel_shape") &&
      view.Differ(window.kernel, ToDimensions(view.Ints("kernel_shape")))) {
    return view.Error(absl::StrCat("\"kernel_shape\" is ", ToString(view.Ints("kernel_shape")),
                                   " but w has ", ToString(window.kernel)));
  }
  SLIPWAY_ASSIGN_OR_RETURN(window.strides, IntsOr(view, "strides", rank, 1, 1));
  SLIPWAY_ASSIGN_OR_RETURN(window.dilations, IntsOr(view, "dilations", rank, 1, 1));
  SLIPWAY_RETURN_IF_ERROR(DecodeOutput(view, window));
  return transposed;
}

absl::StatusOr<std::vector<ValueType>> ConvTransposeType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const OpenView transposed, DecodeOpen(view));
  Dimensions y = {view.input_type(0).dimension(0),
                  view.input_type(1).dimension(1) * transposed.group};
  for (const Dimension& extent : transposed.window.input) y.push_back(extent);
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

absl::StatusOr<BasicWindow<Dimension>> DecodeOpenCol2Im(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 3, 3));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions image, KnownInts(view, 1, "image shape"));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions block, KnownInts(view, 2, "block shape"));
  if (image.empty() || image.size() > kMaxRank - 2) {
    return view.Error(absl::StrCat("an image of ", image.size(), " dimensions"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const BasicWindow<Dimension> window, DecodeWindow(view, block, image));
  const Dimensions x = DimensionsOf(view, 0);
  const Dimension elements = NumElements(window.kernel);
  if (!Divides(view, elements, x[1]) || view.Differ(x[2], NumElements(window.output))) {
    return view.Error(absl::StrCat("x of shape ", ToString(x), " holds no blocks of ",
                                   ToString(block), " for an image of ", ToString(image),
                                   ", which takes ", ToString(NumElements(window.output))));
  }
  return window;
}

absl::StatusOr<std::vector<ValueType>> Col2ImType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const BasicWindow<Dimension> window, DecodeOpenCol2Im(view));
  const Dimension blocks = NumElements(window.kernel);
  Dimensions y = {view.input_type(0).dimension(0), Dimension()};
  if (blocks.is_known()) y[1] = FloorDivide(view.input_type(0).dimension(1), blocks.extent());
  for (const Dimension& extent : window.input) y.push_back(extent);
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

}  // namespace

absl::StatusOr<ConvTransposeView> DecodeConvTranspose(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const OpenView transposed, DecodeOpen(view));
  SLIPWAY_ASSIGN_OR_RETURN(Window window, KnownWindow(view, transposed.window));
  return ConvTransposeView{transposed.group, std::move(window)};
}

absl::StatusOr<Window> DecodeCol2Im(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(BasicWindow<Dimension> window, DecodeOpenCol2Im(view));
  for (Dimension& extent : window.kernel) extent = ExtentOrOpen(extent);
  return KnownWindow(view, window);
}

absl::Status RegisterDeconvolutionOperators(OperatorRegistry& registry) {
  OperatorSchema transposed;
  transposed.name = "ConvTranspose";
  transposed.min_inputs = 2;
  transposed.max_inputs = 3;
  transposed.type_rule = ConvTransposeType;
  transposed.attributes = {StringAttribute("auto_pad", "NOTSET"),
                           IntsAttribute("dilations"),
                           IntAttribute("group", 1),
                           IntsAttribute("kernel_shape"),
                           IntsAttribute("output_padding"),
                           IntsAttribute("output_shape"),
                           IntsAttribute("pads"),
                           IntsAttribute("strides")};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(transposed));

  OperatorSchema col2im;
  col2im.name = "Col2Im";
  col2im.min_inputs = col2im.max_inputs = 3;
  col2im.type_rule = Col2ImType;
  col2im.attributes = {IntsAttribute("dilations"), IntsAttribute("pads"), IntsAttribute("strides")};
  return registry.Add(col2im);
}

}  // namespace slipway
