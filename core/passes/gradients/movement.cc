#include "core/operators/movement.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/passes/gradients/families.h"

namespace slipway {
namespace {

void ViewGradient(GradientNode& n) { n.Give(0, n.ReshapeTo(n.dy(), n.view().input_shape(0))); }

// Give sums over what was broadcast.
void ExpandGradient(GradientNode& n) { n.Give(0, n.dy()); }

void TransposeGradient(GradientNode& n) {
  const auto perm = DecodeTranspose(n.view());
  if (!perm.ok()) return n.Lack(perm.status().message());
  std::vector<int64_t> back(perm->size());
  for (size_t d = 0; d < perm->size(); ++d) back[(*perm)[d]] = static_cast<int64_t>(d);
  n.Give(0, n.TransposeBy(n.dy(), back));
}

void ConcatGradient(GradientNode& n) {
  const auto axis = DecodeConcat(n.view());
  if (!axis.ok()) return n.Lack(axis.status().message());
  int64_t at = 0;
  for (int i = 0; i < n.view().num_inputs(); ++i) {
    const int64_t end = at + n.view().input_shape(i)[*axis];
    if (n.wants(i)) {
      n.Give(i, n.Op("Slice", {n.dy(), n.Ints({at}), n.Ints({end}), n.Ints({*axis})}));
    }
    at = end;
  }
}

void SplitGradient(GradientNode& n) {
  const auto split = DecodeSplit(n.view());
  if (!split.ok()) return n.Lack(split.status().message());
  std::vector<ValueId> parts;
  for (int i = 0; i < n.view().num_outputs(); ++i) parts.push_back(n.dy(i));
  n.Give(0, n.Op("Concat", parts, {{"axis", split->axis}}));
}

// The places in x, one an element of the slice in its order.
std::vector<int64_t> Places(const Shape& starts, const std::vector<int64_t>& steps,
                            const Shape& output, const Shape& x) {
  const Shape strides = RowMajorStrides(x);
  std::vector<int64_t> places = {0};
  for (size_t d = 0; d < x.size(); ++d) {
    std::vector<int64_t> next;
    for (const int64_t place : places) {
      for (int64_t i = 0; i < output[d]; ++i) {
        next.push_back(place + (starts[d] + i * steps[d]) * strides[d]);
      }
    }
    places = std::move(next);
  }
  return places;
}

void SliceGradient(GradientNode& n) {
  const auto slice = DecodeSlice(n.view());
  if (!slice.ok()) return n.Lack(slice.status().message());
  const std::optional<Shape> starts = KnownShape(slice->starts);
  const std::optional<Shape> output = KnownShape(slice->output);
  if (!starts.has_value() || !output.has_value()) return n.Lack("positions that are not known");
  const Shape x = n.view().input_shape(0);
  if (std::all_of(slice->steps.begin(), slice->steps.end(),
                  [](int64_t step) { return step == 1; })) {
    std::vector<int64_t> pads(starts->begin(), starts->end());
    for (size_t d = 0; d < x.size(); ++d) {
      pads.push_back(x[d] - (*starts)[d] - (*output)[d]);
    }
    return n.Give(0, n.Op("Pad", {n.dy(), n.Ints(pads)}));
  }
  const std::vector<int64_t> places = Places(*starts, slice->steps, *output, x);
  const Shape flat = {static_cast<int64_t>(places.size())};
  const ValueId sums = n.Op(
      "ScatterElements", {n.Filled({NumElements(x)}, 0), n.Ints(places), n.ReshapeTo(n.dy(), flat)},
      {{"axis", int64_t{0}}});
  n.Give(0, n.ReshapeTo(sums, x));
}

void PadGradient(GradientNode& n) {
  const auto pad = DecodePad(n.view());
  if (!pad.ok()) return n.Lack(pad.status().message());
  if (pad->mode != PadView::Mode::kConstant) return n.Lack("\"mode\" other than constant");
  std::vector<int64_t> back;
  for (const int64_t begin : pad->begins) back.push_back(-begin);
  for (const int64_t end : pad->ends) back.push_back(-end);
  const ValueId inside = n.Op("Pad", {n.dy(), n.Ints(back)});
  n.Give(0, inside);
  if (!n.wants(2)) return;
  std::vector<int64_t> axes;
  for (size_t d = 0; d < back.size() / 2; ++d) axes.push_back(static_cast<int64_t>(d));
  n.Give(2, n.ReshapeTo(
                n.Minus(n.Reduce("ReduceSum", n.dy(), axes), n.Reduce("ReduceSum", inside, axes)),
                n.view().input_shape(2)));
}

// [r0 * x0, ...] as [r0, x0, r1, x1, ...], summed over the repetitions.
void TileGradient(GradientNode& n) {
  const Shape x = n.view().input_shape(0);
  const Shape y = n.shape(n.y());
  Shape parted;
  std::vector<int64_t> axes;
  for (size_t d = 0; d < x.size(); ++d) {
    if (x[d] == 0) return;
    axes.push_back(static_cast<int64_t>(parted.size()));
    parted.push_back(y[d] / x[d]);
    parted.push_back(x[d]);
  }
  n.Give(0, n.Reduce("ReduceSum", n.ReshapeTo(n.dy(), parted), axes, false));
}

void DepthToSpaceGradient(GradientNode& n) {
  n.Give(0, n.Op("SpaceToDepth", {n.dy()},
                 {{"blocksize", n.view().Int("blocksize")}, {"mode", n.view().String("mode")}}));
}

void SpaceToDepthGradient(GradientNode& n) {
  n.Give(0, n.Op("DepthToSpace", {n.dy()},
                 {{"blocksize", n.view().Int("blocksize")}, {"mode", n.view().String("mode")}}));
}

void TriluGradient(GradientNode& n) {
  std::vector<ValueId> inputs = {n.dy()};
  if (n.view().has_input(1)) inputs.push_back(n.x(1));
  n.Give(0, n.Op("Trilu", inputs, {{"upper", n.view().Int("upper")}}));
}

void ReverseSequenceGradient(GradientNode& n) {
  n.Give(0, n.Op("ReverseSequence", {n.dy(), n.x(1)},
                 {{"batch_axis", n.view().Int("batch_axis")},
                  {"time_axis", n.view().Int("time_axis")}}));
}

constexpr GradientRow kRows[] = {
    {"Concat", ConcatGradient},
    {"DepthToSpace", DepthToSpaceGradient},
    {"Expand", ExpandGradient},
    {"Flatten", ViewGradient},
    {"Pad", PadGradient},
    {"Reshape", ViewGradient},
    {"ReverseSequence", ReverseSequenceGradient},
    {"Slice", SliceGradient},
    {"SpaceToDepth", SpaceToDepthGradient},
    {"Split", SplitGradient},
    {"Squeeze", ViewGradient},
    {"Tile", TileGradient},
    {"Transpose", TransposeGradient},
    {"Trilu", TriluGradient},
    {"Unsqueeze", ViewGradient},
};

}  // namespace

absl::Status RegisterMovementGradients(GradientColumn& column) { return AddRows(kRows, column); }

}  // namespace slipway
