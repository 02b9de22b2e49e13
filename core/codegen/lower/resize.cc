// Resize to sizes in modes "nearest" and "linear": what each place is made of is computed here and baked into the code.
#include "core/operators/resize.h"

#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/float_math.h"
#include "core/codegen/lower/families.h"
#include "core/kernels/resize_axis.h"
#include "core/tensor/dtype.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;

// The places of an axis: each lies `weight` on the way from `low` to `high`.
struct Places {
  explicit Places(int extent) : low(extent), high(extent), weight(extent) {}
  Halide::Buffer<int32_t> low, high;
  Halide::Buffer<float> weight;
};

Places PlacesOf(const kernels::ResizeAxis& axis, const ResizeView& resize) {
  Places places(static_cast<int>(axis.out));
  for (int i = 0; i < static_cast<int>(axis.out); ++i) {
    double at = 0;
    axis.Source(i, at);
    double low = kernels::Floor(at);
    if (resize.mode == ResizeView::Mode::kNearest) {
      low = static_cast<double>(
          kernels::Rounded(static_cast<kernels::ResizeRounding>(resize.rounding), at));
    }
    places.low(i) = static_cast<int32_t>(kernels::Clamped(static_cast<int64_t>(low), axis.in));
    places.high(i) = static_cast<int32_t>(kernels::Clamped(static_cast<int64_t>(low) + 1, axis.in));
    places.weight(i) = static_cast<float>(at - low);
  }
  return places;
}

absl::StatusOr<std::vector<Func>> LowerResize(LoweringContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const ResizeView resize, DecodeResize(context.node));
  const Shape& in = context.node.input_shape(0);
  const Shape& out = context.output_types[0].shape();
  const size_t rank = out.size();
  // Outer axes first: what they make of a row is read by vectors.
  Func stage = context.inputs[0];
  Shape extents = in;
  for (size_t d = 0; d < rank; ++d) {
    const kernels::ResizeAxis axis = {static_cast<kernels::ResizeCoordinates>(resize.coordinates),
                                      in[d], out[d], static_cast<double>(out[d]),
                                      static_cast<double>(in[d])};
    if (!axis.Changes()) continue;
    const Places places = PlacesOf(axis, resize);
    const std::vector<Halide::Var> vars = FreshVars(static_cast<int>(rank));
    const size_t dim = rank - 1 - d;
    std::vector<Expr> at = AsExprs(vars);
    const auto read = [&](const Halide::Buffer<int32_t>& place) {
      std::vector<Expr> from = at;
      from[dim] = Halide::clamp(place(at[dim]), 0, static_cast<int>(in[d]) - 1);
      return Expr(stage(from));
    };
    Func resized("resized");
    if (resize.mode == ResizeView::Mode::kNearest) {
      resized(vars) = read(places.low);
    } else {
      const Expr low = read(places.low);
      const Expr weight = places.weight(at[dim]);
      resized(vars) = low * (1.0f - weight) + read(places.high) * weight;
    }
    extents[d] = out[d];
    // A row of one axis serves many places of the next.
    if (resize.mode == ResizeView::Mode::kLinear && extents != out) {
      SLIPWAY_RETURN_IF_ERROR(context.schedule(
          {AnchorKind::kInjective,
           InjectiveStages{HalideExtents(extents), resized.output_types()[0].bytes()}},
          resized));
    }
    stage = resized;
  }
  Func result("resize");
  const std::vector<Halide::Var> vars = FreshVars(static_cast<int>(rank));
  result(vars) = stage(AsExprs(vars));
  return std::vector<Func>{result};
}

absl::Status ServesSizes(const NodeView& node, absl::Span<const ValueType> outputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const ResizeView resize, DecodeResize(node));
  if (!resize.has_sizes || resize.aspect != ResizeView::Aspect::kStretch) {
    return node.Unimplemented("no kernel can be generated for scales that are no ratio of extents");
  }
  if (resize.coordinates == ResizeView::Coordinates::kCropAndResize) {
    return node.Unimplemented("no kernel can be generated for \"tf_crop_and_resize\" yet");
  }
  if (resize.mode == ResizeView::Mode::kNearest) return ServesEveryType(node, outputs);
  if (resize.mode != ResizeView::Mode::kLinear || resize.antialias || resize.exclude_outside) {
    return node.Unimplemented("no kernel can be generated for this mode yet");
  }
  if (outputs[0].dtype() != DataType::kFloat32) {
    return node.Unimplemented("no kernel can be generated but for f32 yet");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RegisterResizeLowerings(Lowerings& lowerings) {
  return lowerings.Add("Resize", Lowering(LowerResize).Serving(ServesSizes));
}

}  // namespace slipway
