// Scan: slices along the outermost axis, in order.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/control.h"
#include "core/passes/canonicalize_rules.h"

namespace slipway {
namespace {

bool IsPlain(const Slices& slices) { return slices.axis == 0 && !slices.reverse; }

// The value in the reverse order along its outermost axis.
absl::StatusOr<ValueId> AddReversed(GraphRewriter& rewriter, ValueId x, const std::string& name) {
  const auto number = [&](absl::string_view what, int64_t value) {
    return rewriter.Constant(absl::StrCat(name, what), Tensor::Of<int64_t>({1}, {value}));
  };
  const ValueId start = number("_start", -1);
  const ValueId end = number("_end", std::numeric_limits<int64_t>::min());
  const ValueId axis = number("_axis", 0);
  const ValueId step = number("_step", -1);
  return rewriter.Add("Slice", {x, start, end, axis, step}, {}, name);
}

// The value with its axis `from` at `to`, the others in their order.
absl::StatusOr<ValueId> AddMoved(GraphRewriter& rewriter, ValueId x, int64_t from, int64_t to,
                                 const std::string& name) {
  std::vector<int64_t> axes;
  for (int d = 0; d < rewriter.type(x).rank(); ++d) {
    if (d != from) axes.push_back(d);
  }
  axes.insert(axes.begin() + to, from);
  return rewriter.Add("Transpose", {x}, {{"perm", Ints(axes)}}, name);
}

absl::StatusOr<ValueId> AddScanned(GraphRewriter& rewriter, ValueId x, const Slices& slices,
                                   const std::string& name) {
  if (slices.axis != 0) {
    SLIPWAY_ASSIGN_OR_RETURN(x, AddMoved(rewriter, x, slices.axis, 0, name));
  }
  if (!slices.reverse) return x;
  return AddReversed(rewriter, x, name);
}

absl::StatusOr<ValueId> AddCollected(GraphRewriter& rewriter, ValueId x, const Slices& slices,
                                     const std::string& name) {
  if (slices.reverse) {
    SLIPWAY_ASSIGN_OR_RETURN(x, AddReversed(rewriter, x, name));
  }
  if (slices.axis == 0) return x;
  return AddMoved(rewriter, x, 0, slices.axis, name);
}

absl::StatusOr<bool> CanonicalizeScan(Node& node, GraphRewriter& rewriter,
                                      const PassContext& context) {
  SLIPWAY_ASSIGN_OR_RETURN(const NodeView view,
                           NodeView::Create(rewriter.graph(), node, context.registry));
  SLIPWAY_ASSIGN_OR_RETURN(LoopView scan, DecodeLoop(view));
  const std::string name = DisplayName(rewriter.graph(), node);
  for (const char* attribute :
       {"scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions"}) {
    node.attributes.Erase(attribute);
  }
  for (size_t i = 0; i < scan.scanned.size(); ++i) {
    if (IsPlain(scan.scanned[i])) continue;
    const size_t input = static_cast<size_t>(scan.first_scanned()) + i;
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId x,
                             AddScanned(rewriter, node.inputs[input], scan.scanned[i],
                                        absl::StrCat(name, "_scanned_", i)));
    rewriter.SetInput(node, input, x);
  }
  struct Changed {
    ValueId before;
    ValueId made;
    Slices slices;
  };
  std::vector<Changed> changed;
  for (size_t o = scan.carried; o < node.outputs.size(); ++o) {
    Slices slices = scan.collected[o - static_cast<size_t>(scan.carried)];
    const ValueId before = node.outputs[o];
    if (before == kNoValue) continue;
    const ValueType type = rewriter.type(before);
    if (slices.axis < 0) slices.axis += type.rank();
    if (IsPlain(slices)) continue;
    Dimensions dimensions = type.dimensions();
    std::rotate(dimensions.begin(), dimensions.begin() + slices.axis,
                dimensions.begin() + slices.axis + 1);
    node.outputs[o] = rewriter.AddValue(absl::StrCat(name, "_collected_", o),
                                        ValueType(type.dtype(), dimensions));
    changed.push_back({before, node.outputs[o], slices});
  }
  rewriter.Keep(std::move(node));
  for (const Changed& output : changed) {
    SLIPWAY_ASSIGN_OR_RETURN(const ValueId y, AddCollected(rewriter, output.made, output.slices,
                                                           absl::StrCat(name, "_collected")));
    rewriter.ReplaceOutput(output.before, y);
  }
  return true;
}

}  // namespace

void AddControlRules(CanonicalizeRules& rules) { rules["Scan"] = CanonicalizeScan; }

}  // namespace slipway
