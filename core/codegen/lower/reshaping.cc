// Reshape and its kin.
#include "core/operators/reshaping.h"

#include <algorithm>
#include <vector>

#include "core/base/status_macros.h"
#include "core/codegen/lower/families.h"

namespace slipway {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

using Funcs = absl::StatusOr<std::vector<Func>>;

// Elements keep their place in memory. Where the innermost dimensions agree their indices are taken as
// they are, so that vectors stay vectors; the rest goes through the flat index.
Funcs LowerReshape(LoweringContext& context) {
  const std::vector<int> from = HalideExtents(context.node.input_shape(0));
  const std::vector<int> to = HalideExtents(context.output_types[0].shape());
  const std::vector<Var> vars = FreshVars(static_cast<int>(to.size()));
  size_t same = 0;
  while (same < from.size() && same < to.size() && from[same] == to[same]) ++same;
  Expr flat = 0;
  int stride = 1;
  for (size_t i = same; i < to.size(); ++i) {
    flat += vars[i] * stride;
    stride *= std::max(to[i], 1);
  }
  std::vector<Expr> at(vars.begin(), vars.begin() + static_cast<std::ptrdiff_t>(same));
  size_t last = from.size();  // The outermost dimension needs no remainder.
  while (last > same && from[last - 1] == 1) --last;
  for (size_t i = same; i < from.size(); ++i) {
    if (from[i] == 1) {
      at.push_back(0);
      continue;
    }
    at.push_back(i + 1 == last ? flat : flat % from[i]);
    flat = flat / from[i];
  }
  Func result("reshaped");
  result(vars) = context.inputs[0](at);
  return std::vector<Func>{result};
}

}  // namespace

absl::Status RegisterReshapingLowerings(Lowerings& lowerings) {
  for (const char* op : {"Flatten", "Reshape", "Squeeze", "Unsqueeze"}) {
    SLIPWAY_RETURN_IF_ERROR(lowerings.Add(op, LowerReshape));
  }
  return absl::OkStatus();
}

}  // namespace slipway
