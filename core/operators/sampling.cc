#include "core/operators/sampling.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

Types GridSampleType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeGridSample(view).status());
  const Dimensions x = DimensionsOf(view, 0);
  const Dimensions grid = DimensionsOf(view, 1);
  if (grid.size() != x.size() || view.Differ(grid[0], x[0]) ||
      view.Differ(grid.back(), static_cast<int64_t>(x.size()) - 2)) {
    return view.Error(
        absl::StrCat("a grid of shape ", ToString(grid), " does not fit x of shape ", ToString(x)));
  }
  Dimensions y(grid.begin(), grid.end() - 1);
  y[0] = MorePrecise(x[0], grid[0]);
  y.insert(y.begin() + 1, x[1]);
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

Types AffineGridType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions size, KnownInts(view, 1, "size"));
  if (size.size() != 4 && size.size() != 5) {
    return view.Error(absl::StrCat("\"size\" has ", size.size(), " entries, not 4 or 5"));
  }
  const auto rank = static_cast<int64_t>(size.size()) - 2;
  if (view.Differ(DimensionsOf(view, 0), {size[0], rank, rank + 1})) {
    return view.Error(absl::StrCat("theta has the shape ", ToString(DimensionsOf(view, 0)),
                                   " where [", ToString(size[0]), ", ", rank, ", ", rank + 1,
                                   "] is needed"));
  }
  Dimensions y = size;
  y.erase(y.begin() + 1);
  y.push_back(rank);
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

// The window of DeformConv, when everything fits.
absl::StatusOr<BasicWindow<Dimension>> DeformWindow(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckSameDtypes(view));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 3));
  const int rank = view.input_type(0).rank();
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, rank, rank));
  const int64_t group = view.Int("group");
  const int64_t offset_group = view.Int("offset_group");
  const Dimensions x = DimensionsOf(view, 0);
  const Dimensions w = DimensionsOf(view, 1);
  if (!Divides(view, group, x[1]) || !Divides(view, offset_group, x[1]) ||
      !Divides(view, group, w[0]) || view.Differ(w[1] * group, x[1])) {
    return view.Error(absl::StrCat("x of shape ", ToString(x), " and w of shape ", ToString(w),
                                   " do not fit with ", group, " groups and ", offset_group,
                                   " groups of offsets"));
  }
  const Dimensions kernel = DimensionsOf(view, 1, 2);
  if (view.has("kernel_shape") && view.Differ(kernel, ToDimensions(view.Ints("kernel_shape")))) {
    return view.Error(absl::StrCat("\"kernel_shape\" is ", ToString(view.Ints("kernel_shape")),
                                   " but w has ", ToString(kernel)));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const BasicWindow<Dimension> window,
                           DecodeWindow(view, kernel, DimensionsOf(view, 0, 2)));
  const Dimension moved = NumElements(kernel) * offset_group;
  Dimensions offsets = {x[0], moved * (rank - 2)};
  offsets.insert(offsets.end(), window.output.begin(), window.output.end());
  Dimensions mask = offsets;
  mask[1] = moved;
  const std::pair<int, Dimensions> wanted[] = {{2, offsets}, {3, {w[0]}}, {4, mask}};
  for (const auto& [input, shape] : wanted) {
    if (view.has_input(input) && view.Differ(DimensionsOf(view, input), shape)) {
      return view.Error(absl::StrCat("input ", input, " has the shape ",
                                     ToString(DimensionsOf(view, input)), " where ",
                                     ToString(shape), " is needed"));
    }
  }
  return window;
}

Types DeformConvType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const BasicWindow<Dimension> window, DeformWindow(view));
  Dimensions y = {view.input_type(0).dimension(0), view.input_type(1).dimension(0)};
  y.insert(y.end(), window.output.begin(), window.output.end());
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

Types RoiAlignType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeRoiAlign(view).status());
  const Dimension regions = view.input_type(1).dimension(0);
  return std::vector<ValueType>{ValueType(
      view.input_type(0).dtype(),
      {MorePrecise(regions, view.input_type(2).dimension(0)), view.input_type(0).dimension(1),
       view.Int("output_height"), view.Int("output_width")})};
}

}  // namespace

absl::StatusOr<GridSampleView> DecodeGridSample(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 1, TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 3));
  GridSampleView sample;
  const std::string& mode = view.String("mode");
  if (mode == "nearest") {
    sample.mode = GridSampleView::Mode::kNearest;
  } else if (mode == "cubic") {
    sample.mode = GridSampleView::Mode::kCubic;
  } else if (mode != "linear") {
    return view.Error(absl::StrCat("\"mode\" is \"", mode, "\", not linear, nearest or cubic"));
  }
  const std::string& padding = view.String("padding_mode");
  if (padding == "border") {
    sample.padding = GridSampleView::Padding::kBorder;
  } else if (padding == "reflection") {
    sample.padding = GridSampleView::Padding::kReflection;
  } else if (padding != "zeros") {
    return view.Error(
        absl::StrCat("\"padding_mode\" is \"", padding, "\", not zeros, border or reflection"));
  }
  sample.align_corners = view.Int("align_corners") != 0;
  return sample;
}

absl::StatusOr<DeformConvView> DecodeDeformConv(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const BasicWindow<Dimension> open, DeformWindow(view));
  SLIPWAY_ASSIGN_OR_RETURN(Window window, KnownWindow(view, open));
  return DeformConvView{view.Int("group"), view.Int("offset_group"), std::move(window)};
}

absl::StatusOr<RoiAlignView> DecodeRoiAlign(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 4, 4));
  SLIPWAY_RETURN_IF_ERROR(CheckIndices(view, 2));
  const Dimensions regions = DimensionsOf(view, 1);
  if (view.input_type(1).dtype() != view.input_type(0).dtype() || regions.size() != 2 ||
      view.Differ(regions[1], 4) || view.Differ(DimensionsOf(view, 2), {regions[0]})) {
    return view.Error(absl::StrCat("regions of ", ToString(view.input_type(1)),
                                   " and batch indices of ", ToString(view.input_type(2)),
                                   " do not fit: ", Name(view.input_type(0).dtype()),
                                   "[n, 4] and i64[n] are needed"));
  }
  RoiAlignView align;
  const std::string& mode = view.String("mode");
  align.maximum = mode == "max";
  if (!align.maximum && mode != "avg") {
    return view.Error(absl::StrCat("\"mode\" is \"", mode, "\", not avg or max"));
  }
  const std::string& coordinates = view.String("coordinate_transformation_mode");
  align.half_pixel = coordinates == "half_pixel";
  if (!align.half_pixel && coordinates != "output_half_pixel") {
    return view.Error(absl::StrCat("\"coordinate_transformation_mode\" is \"", coordinates,
                                   "\", not half_pixel or output_half_pixel"));
  }
  align.sampling_ratio = view.Int("sampling_ratio");
  align.spatial_scale = view.Float("spatial_scale");
  if (align.sampling_ratio < 0 || view.Int("output_height") < 1 || view.Int("output_width") < 1) {
    return view.Error(absl::StrCat("\"sampling_ratio\" is ", align.sampling_ratio, ", the output ",
                                   view.Int("output_height"), " by ", view.Int("output_width")));
  }
  return align;
}

absl::Status RegisterSamplingOperators(OperatorRegistry& registry) {
  OperatorSchema sample;
  sample.name = "GridSample";
  sample.min_inputs = sample.max_inputs = 2;
  sample.type_rule = GridSampleType;
  sample.attributes = {IntAttribute("align_corners", 0), StringAttribute("mode", "linear"),
                       StringAttribute("padding_mode", "zeros")};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(sample));

  OperatorSchema grid;
  grid.name = "AffineGrid";
  grid.min_inputs = grid.max_inputs = 2;
  grid.type_rule = AffineGridType;
  grid.attributes = {IntAttribute("align_corners", 0)};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(grid));

  OperatorSchema deform;
  deform.name = "DeformConv";
  deform.min_inputs = 3;
  deform.max_inputs = 5;
  deform.type_rule = DeformConvType;
  deform.attributes = {IntsAttribute("dilations"),    IntAttribute("group", 1),
                       IntsAttribute("kernel_shape"), IntAttribute("offset_group", 1),
                       IntsAttribute("pads"),         IntsAttribute("strides")};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(deform));

  OperatorSchema align;
  align.name = "RoiAlign";
  align.min_inputs = align.max_inputs = 3;
  align.type_rule = RoiAlignType;
  align.attributes = {StringAttribute("coordinate_transformation_mode", "half_pixel"),
                      StringAttribute("mode", "avg"),
                      IntAttribute("output_height", 1),
                      IntAttribute("output_width", 1),
                      IntAttribute("sampling_ratio", 0),
                      FloatAttribute("spatial_scale", 1.0f)};
  return registry.Add(align);
}

}  // namespace slipway
