#include "core/operators/resize.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

using Mode = ResizeView::Mode;
using Coordinates = ResizeView::Coordinates;
using Rounding = ResizeView::Rounding;
using Aspect = ResizeView::Aspect;

// The entry of a table that an attribute names.
template <typename T, size_t n>
absl::Status Choose(const NodeView& view, absl::string_view attribute,
                    const std::pair<const char*, T> (&table)[n], T& chosen) {
  const std::string& name = view.String(attribute);
  std::vector<absl::string_view> known;
  for (const auto& [entry, value] : table) {
    if (name == entry) {
      chosen = value;
      return absl::OkStatus();
    }
    known.push_back(entry);
  }
  return view.Error(absl::StrCat("\"", attribute, "\" is \"", name, "\", not one of ",
                                 absl::StrJoin(known, ", ")));
}

constexpr std::pair<const char*, Mode> kModes[] = {
    {"nearest", Mode::kNearest}, {"linear", Mode::kLinear}, {"cubic", Mode::kCubic}};
constexpr std::pair<const char*, Coordinates> kCoordinates[] = {
    {"half_pixel", Coordinates::kHalfPixel},
    {"half_pixel_symmetric", Coordinates::kHalfPixelSymmetric},
    {"pytorch_half_pixel", Coordinates::kPytorchHalfPixel},
    {"align_corners", Coordinates::kAlignCorners},
    {"asymmetric", Coordinates::kAsymmetric},
    {"tf_crop_and_resize", Coordinates::kCropAndResize},
    {"tf_half_pixel_for_nn", Coordinates::kTfHalfPixel}};
constexpr std::pair<const char*, Rounding> kRoundings[] = {
    {"round_prefer_floor", Rounding::kHalfDown},
    {"round_prefer_ceil", Rounding::kHalfUp},
    {"floor", Rounding::kFloor},
    {"ceil", Rounding::kCeil}};
constexpr std::pair<const char*, Aspect> kAspects[] = {{"stretch", Aspect::kStretch},
                                                       {"not_larger", Aspect::kNotLarger},
                                                       {"not_smaller", Aspect::kNotSmaller}};

// Whether an input is there and says something: an empty one is as good as none.
bool Says(const NodeView& view, int input) {
  return view.has_input(input) && NumElements(DimensionsOf(view, input)) != Dimension(0);
}

absl::Status CheckLength(const NodeView& view, int input, size_t length) {
  if (!view.Differ(DimensionsOf(view, input), {Dimension(static_cast<int64_t>(length))})) {
    return absl::OkStatus();
  }
  return view.Error(absl::StrCat("input ", input, " is ", ToString(view.input_type(input)),
                                 " where a list of ", length, " is needed"));
}

// Unset where they are not known before running.
absl::StatusOr<std::optional<std::vector<float>>> Scales(const NodeView& view, size_t count) {
  if (view.input_type(2).dtype() != DataType::kFloat32) {
    return view.Error(
        absl::StrCat("the scales (input 2) must be f32, not ", ToString(view.input_type(2))));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckLength(view, 2, count));
  const Tensor* tensor = view.constant(2);
  if (tensor == nullptr) return std::optional<std::vector<float>>();
  const auto values = tensor->values<float>();
  for (const float scale : values) {
    if (!(scale > 0) || !std::isfinite(scale)) {
      return view.Error(absl::StrCat("a scale of ", scale));
    }
  }
  return std::vector<float>(values.begin(), values.end());
}

// floor(extent * scale), in f32 as everybody does it.
Dimension Scaled(const Dimension& extent, float scale) {
  constexpr float kMost = 4e9f;  // Refused as an extent.
  if (extent.is_known()) {
    const float scaled = std::floor(static_cast<float>(extent.extent()) * scale);
    return static_cast<int64_t>(std::min(scaled, kMost));
  }
  // A fraction with a small power of 2 below is exact.
  for (int64_t below = 1; below <= 64; below *= 2) {
    const float above = scale * static_cast<float>(below);
    if (above == std::floor(above) && above < kMost) {
      return FloorDivide(extent * static_cast<int64_t>(above), below);
    }
  }
  return Dimension();
}

// `sizes` with one scale for all axes, the least or largest that they would have; rounded to whole extents.
Dimensions WithAspect(Aspect aspect, const std::vector<int64_t>& sizes, const Dimensions& x) {
  std::optional<size_t> decides;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!x[i].is_known() || x[i].extent() == 0) return Dimensions(sizes.size());
    if (!decides.has_value()) decides = i;
    const double scale = static_cast<double>(sizes[i]) / x[i].extent();
    const double best = static_cast<double>(sizes[*decides]) / x[*decides].extent();
    if (aspect == Aspect::kNotLarger ? scale < best : scale > best) decides = i;
  }
  Dimensions y;
  for (const Dimension& extent : x) {
    const double exact = static_cast<double>(extent.extent()) * sizes[*decides] /
                         static_cast<double>(x[*decides].extent());
    y.push_back(static_cast<int64_t>(std::min(std::floor(exact + 0.5), 4e9)));
  }
  return y;
}

absl::StatusOr<std::vector<ValueType>> ResizeType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const ResizeView resize, DecodeResize(view));
  Dimensions y = DimensionsOf(view, 0);
  if (resize.axes.empty()) return std::vector<ValueType>{view.input_type(0)};
  Dimensions resized;
  for (const int64_t axis : resize.axes) resized.push_back(y[axis]);
  const Dimensions before = resized;
  if (resize.has_sizes) {
    SLIPWAY_RETURN_IF_ERROR(CheckLength(view, 3, resize.axes.size()));
    SLIPWAY_ASSIGN_OR_RETURN(const Dimensions sizes, KnownInts(view, 3, "sizes"));
    const std::optional<Shape> known = KnownShape(sizes);
    if (known.has_value()) {
      const auto sane = CheckShape(*known, 1);
      if (!sane.ok()) return view.Annotated(sane.status());
    }
    if (resize.aspect == Aspect::kStretch) {
      resized = sizes;
    } else {
      resized = known.has_value()
                    ? WithAspect(resize.aspect, {known->begin(), known->end()}, resized)
                    : Dimensions(sizes.size());
    }
  } else {
    SLIPWAY_ASSIGN_OR_RETURN(const std::optional<std::vector<float>> scales,
                             Scales(view, resize.axes.size()));
    for (size_t i = 0; i < resized.size(); ++i) {
      resized[i] = scales.has_value() ? Scaled(resized[i], (*scales)[i]) : Dimension();
    }
  }
  for (size_t i = 0; i < resized.size(); ++i) {
    if (before[i] == Dimension(0) && view.Differ(resized[i], 0)) {
      return view.Error(absl::StrCat("dimension ", resize.axes[i], " is empty and becomes ",
                                     ToString(resized[i])));
    }
    y[resize.axes[i]] = resized[i];
  }
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

}  // namespace

absl::StatusOr<ResizeView> DecodeResize(const NodeView& view) {
  ResizeView resize;
  SLIPWAY_RETURN_IF_ERROR(Choose(view, "mode", kModes, resize.mode));
  SLIPWAY_RETURN_IF_ERROR(
      Choose(view, "coordinate_transformation_mode", kCoordinates, resize.coordinates));
  SLIPWAY_RETURN_IF_ERROR(Choose(view, "nearest_mode", kRoundings, resize.rounding));
  SLIPWAY_RETURN_IF_ERROR(Choose(view, "keep_aspect_ratio_policy", kAspects, resize.aspect));
  resize.antialias = view.Int("antialias") != 0;
  resize.exclude_outside = view.Int("exclude_outside") != 0;
  resize.cubic_a = view.Float("cubic_coeff_a");
  resize.extrapolation = view.Float("extrapolation_value");
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(
      view, 0, resize.mode == Mode::kNearest ? TypeSet::kNumberOrBool : TypeSet::kAnyNumeric));
  if (resize.mode == Mode::kNearest && resize.antialias) {
    return view.Error("\"antialias\" has no meaning in mode \"nearest\"");
  }
  const int64_t rank = view.input_type(0).rank();
  resize.axes.resize(rank);
  std::iota(resize.axes.begin(), resize.axes.end(), 0);
  if (view.has("axes")) {
    resize.axes = view.Ints("axes");
    SLIPWAY_RETURN_IF_ERROR(NormalizeAxes(view, resize.axes, rank).status());
    for (int64_t& axis : resize.axes) axis += axis < 0 ? rank : 0;
  }
  resize.has_sizes = Says(view, 3);
  if (!resize.axes.empty() && Says(view, 2) == resize.has_sizes) {
    return view.Error("either scales (input 2) or sizes (input 3) must be given");
  }
  if (resize.coordinates == Coordinates::kCropAndResize) {
    if (!Says(view, 1)) return view.Error("\"tf_crop_and_resize\" needs a roi (input 1)");
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 1, TypeSet::kAnyFloat));
    SLIPWAY_RETURN_IF_ERROR(CheckLength(view, 1, 2 * resize.axes.size()));
  }
  return resize;
}

absl::Status RegisterResizeOperators(OperatorRegistry& registry) {
  OperatorSchema resize;
  resize.name = "Resize";
  resize.max_inputs = 4;
  resize.type_rule = ResizeType;
  resize.layout.role = LayoutRole::kResize;
  resize.attributes = {IntAttribute("antialias", 0),
                       IntsAttribute("axes"),
                       StringAttribute("coordinate_transformation_mode", "half_pixel"),
                       FloatAttribute("cubic_coeff_a", -0.75f),
                       IntAttribute("exclude_outside", 0),
                       FloatAttribute("extrapolation_value", 0.0f),
                       StringAttribute("keep_aspect_ratio_policy", "stretch"),
                       StringAttribute("mode", "nearest"),
                       StringAttribute("nearest_mode", "round_prefer_floor")};
  return registry.Add(resize);
}

}  // namespace slipway
