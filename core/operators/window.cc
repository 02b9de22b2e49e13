#include "core/operators/window.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

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

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

absl::StatusOr<Window> DecodeWindow(const NodeView& view, absl::Span<const int64_t> kernel,
                                    absl::Span<const int64_t> input) {
  const size_t rank = input.size();
  Window window;
  window.kernel.assign(kernel.begin(), kernel.end());
  window.input.assign(input.begin(), input.end());
  if (kernel.size() != rank) {
    return view.Error(absl::StrCat("the kernel has ", kernel.size(), " dimensions, the input ",
                                   rank, " spatial ones"));
  }
  for (const int64_t extent : kernel) {
    if (extent < 1 || extent > kMaxParameter) {
      return view.Error(absl::StrCat("the kernel has an extent of ", extent));
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
    const int64_t reach = (window.kernel[d] - 1) * window.dilations[d] + 1;
    const int64_t stride = window.strides[d];
    if (auto_pad == "VALID") window.pads_begin[d] = window.pads_end[d] = 0;
    int64_t extent = 0;
    if (same) {
      extent = CeilDiv(window.input[d], stride);
      const int64_t total = std::max<int64_t>((extent - 1) * stride + reach - window.input[d], 0);
      window.pads_begin[d] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      window.pads_end[d] = total - window.pads_begin[d];
    } else {
      const int64_t span = window.input[d] + window.pads_begin[d] + window.pads_end[d] - reach;
      extent = span < 0 ? 0 : (ceil ? CeilDiv(span, stride) : span / stride) + 1;
      // A window that begins behind the input and its begin padding would see nothing.
      if (extent > 1 && (extent - 1) * stride >= window.input[d] + window.pads_begin[d]) --extent;
    }
    if (extent < 1) {
      return view.Error(absl::StrCat("a window reaching over ", reach,
                                     " elements does not fit into spatial dimension ", d, " of ",
                                     window.input[d], " with pads ", window.pads_begin[d], " and ",
                                     window.pads_end[d]));
    }
    if (window.pads_begin[d] > kMaxParameter || window.pads_end[d] > kMaxParameter) {
      return view.Error(absl::StrCat("padding of spatial dimension ", d, " is too large"));
    }
    window.output.push_back(extent);
  }
  return window;
}

std::vector<int64_t> PadsAttribute(const Window& window) {
  std::vector<int64_t> pads = window.pads_begin;
  pads.insert(pads.end(), window.pads_end.begin(), window.pads_end.end());
  return pads;
}

}  // namespace slipway
