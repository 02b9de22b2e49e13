#include "core/operators/window.h"

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

constexpr int64_t kMaxParameter = std::numeric_limits<int32_t>::max();

absl::StatusOr<std::vector<int64_t>> IntsOr(const NodeView& view, absl::string_view name,
                                            size_t count, int64_t default_value, int64_t lowest) {
  if (!view.has(name)) return std::vector<int64_t>(count, default_value);
  const std::vector<int64_t>& values = view.Ints(name);
  if (values.size() != count) {
    return view.Error(
        absl::StrCat("\"", name, "\" has ", values.size(), " entries, ", count, " are needed"));
  }
  for (const int64_t value : values) {
    if (value < lowest || value > kMaxParameter) {
      return view.Error(absl::StrCat("\"", name, "\" holds ", value, ", which is outside [", lowest,
                                     ", ", kMaxParameter, "]"));
    }
  }
  return values;
}

bool IsBelow(const Dimension& extent, int64_t lowest) {
  return extent.is_known() && extent.extent() < lowest;
}
bool IsAbove(const Dimension& extent, int64_t highest) {
  return extent.is_known() && extent.extent() > highest;
}

}  // namespace

absl::StatusOr<BasicWindow<Dimension>> DecodeWindow(const NodeView& view,
                                                    absl::Span<const Dimension> kernel,
                                                    absl::Span<const Dimension> input) {
  const size_t rank = input.size();
  BasicWindow<Dimension> window;
  window.kernel.assign(kernel.begin(), kernel.end());
  window.input.assign(input.begin(), input.end());
  if (kernel.size() != rank) {
    return view.Error(absl::StrCat("the kernel has ", kernel.size(), " dimensions, the input ",
                                   rank, " spatial ones"));
  }
  for (const Dimension& extent : kernel) {
    if (IsBelow(extent, 1) || IsAbove(extent, kMaxParameter)) {
      return view.Error(absl::StrCat("the kernel has an extent of ", ToString(extent)));
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(window.strides, IntsOr(view, "strides", rank, 1, 1));
  SLIPWAY_ASSIGN_OR_RETURN(window.dilations, IntsOr(view, "dilations", rank, 1, 1));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, IntsOr(view, "pads", 2 * rank, 0, 0));
  window.pads_begin.assign(pads.begin(), pads.begin() + rank);
  window.pads_end.assign(pads.begin() + rank, pads.end());

  const std::string auto_pad = view.has("auto_pad") ? view.String("auto_pad") : "NOTSET";
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "NOTSET" && auto_pad != "VALID") {
    return view.Error(absl::StrCat("\"auto_pad\" is \"", auto_pad,
                                   "\", not NOTSET, VALID, SAME_UPPER or SAME_LOWER"));
  }
  const bool ceil = view.has("ceil_mode") && view.Int("ceil_mode") != 0;
  for (size_t d = 0; d < rank; ++d) {
    const Dimension reach = (window.kernel[d] - 1) * window.dilations[d] + 1;
    const int64_t stride = window.strides[d];
    if (auto_pad == "VALID") window.pads_begin[d] = window.pads_end[d] = 0;
    Dimension extent;
    if (same) {
      extent = CeilDivide(window.input[d], stride);
      const Dimension total = Max((extent - 1) * stride + reach - window.input[d], 0);
      const Dimension half = FloorDivide(total, 2);
      window.pads_begin[d] = auto_pad == "SAME_UPPER" ? half : total - half;
      window.pads_end[d] = total - window.pads_begin[d];
    } else {
      const Dimension span = window.input[d] + window.pads_begin[d] + window.pads_end[d] - reach;
      extent = (ceil ? CeilDivide(span, stride) : FloorDivide(span, stride)) + 1;
      // A window that begins behind the input and its begin padding would see nothing.
      if (ceil) extent = Min(extent, CeilDivide(window.input[d] + window.pads_begin[d], stride));
      if (IsBelow(span, 0)) extent = 0;
    }
    if (IsBelow(extent, 1)) {
      return view.Error(absl::StrCat(
          "a window reaching over ", ToString(reach),
          " elements does not fit into spatial dimension ", d, " of ", ToString(window.input[d]),
          " with pads ", ToString(window.pads_begin[d]), " and ", ToString(window.pads_end[d])));
    }
    if (IsAbove(window.pads_begin[d], kMaxParameter) ||
        IsAbove(window.pads_end[d], kMaxParameter)) {
      return view.Error(absl::StrCat("padding of spatial dimension ", d, " is too large"));
    }
    window.output.push_back(extent);
  }
  return window;
}

absl::StatusOr<Window> KnownWindow(const NodeView& view, const BasicWindow<Dimension>& window) {
  for (const std::vector<Dimension>* list :
       {&window.kernel, &window.pads_begin, &window.pads_end}) {
    for (const Dimension& number : *list) {
      if (number.is_known()) continue;
      return view.Unimplemented(absl::StrCat(
          "windows of ", ToString(window.kernel), " with pads from ", ToString(window.pads_begin),
          " to ", ToString(window.pads_end), ", which are not known, are not supported"));
    }
  }
  Window known;
  known.kernel = KnownExtents(window.kernel);
  known.strides = window.strides;
  known.dilations = window.dilations;
  known.pads_begin = KnownExtents(window.pads_begin);
  known.pads_end = KnownExtents(window.pads_end);
  for (const Dimension& extent : window.input) known.input.push_back(ExtentOrOpen(extent));
  for (const Dimension& extent : window.output) known.output.push_back(ExtentOrOpen(extent));
  return known;
}

std::vector<int64_t> PadsAttribute(const Window& window) {
  std::vector<int64_t> pads = window.pads_begin;
  pads.insert(pads.end(), window.pads_end.begin(), window.pads_end.end());
  return pads;
}

}  // namespace slipway
