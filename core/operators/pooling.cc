#include "core/operators/pooling.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

absl::StatusOr<BasicPoolView<Dimension>> DecodeOpenPool(const NodeView& view) {
  BasicPoolView<Dimension> pool;
  pool.blocked = view.op() == "slipway.MaxPoolNCHWc" || view.op() == "slipway.AveragePoolNCHWc";
  pool.is_max = view.op() == "MaxPool" || view.op() == "slipway.MaxPoolNCHWc";
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, pool.blocked ? 5 : 3, 5));
  if (view.has_output(1)) {
    return view.Unimplemented("the output \"Indices\" of MaxPool is not supported");
  }
  if (view.has("count_include_pad")) pool.count_include_pad = view.Int("count_include_pad") != 0;
  SLIPWAY_ASSIGN_OR_RETURN(pool.window,
                           DecodeWindow(view, ToDimensions(view.Ints("kernel_shape")),
                                        DimensionsOf(view, 0, 2, pool.blocked ? 2 : kMaxRank)));
  for (size_t d = 0; d < pool.window.kernel.size(); ++d) {
    const int64_t reach = (pool.window.kernel[d].extent() - 1) * pool.window.dilations[d] + 1;
    const auto too_wide = [reach](const Dimension& pad) {
      return pad.is_known() && pad.extent() >= reach;
    };
    if (too_wide(pool.window.pads_begin[d]) || too_wide(pool.window.pads_end[d])) {
      return view.Error("padding as wide as the window makes outputs that see no input");
    }
  }
  return pool;
}

absl::StatusOr<std::vector<ValueType>> PoolType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const BasicPoolView<Dimension> pool, DecodeOpenPool(view));
  Dimensions y = DimensionsOf(view, 0);
  std::copy(pool.window.output.begin(), pool.window.output.end(), y.begin() + 2);
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

absl::StatusOr<std::vector<ValueType>> GlobalPoolType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 3));
  Dimensions y = DimensionsOf(view, 0);
  for (size_t d = 2; d < y.size(); ++d) {
    if (y[d] == Dimension(0)) {
      return view.Error("an empty spatial dimension has no mean or maximum");
    }
    y[d] = 1;
  }
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

OperatorSchema PoolSchema(absl::string_view name, bool is_max, bool blocked) {
  OperatorSchema schema;
  schema.name = std::string(name);
  schema.pattern = Pattern::kReduction;
  schema.type_rule = PoolType;
  schema.attributes = {Required(IntsAttribute("kernel_shape")), IntsAttribute("strides"),
                       IntsAttribute("pads"), IntsAttribute("dilations"),
                       IntAttribute("ceil_mode", 0)};
  if (!blocked) schema.attributes.push_back(StringAttribute("auto_pad", "NOTSET"));
  if (!is_max) schema.attributes.push_back(IntAttribute("count_include_pad", 0));
  if (!blocked) schema.layout = {LayoutRole::kWindow, absl::StrCat("slipway.", name, "NCHWc")};
  if (is_max && !blocked) {
    schema.max_outputs = 2;
    schema.attributes.push_back(IntAttribute("storage_order", 0));
  }
  return schema;
}

}  // namespace

absl::StatusOr<PoolView> DecodePool(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(view.RequireStatic());
  SLIPWAY_ASSIGN_OR_RETURN(const BasicPoolView<Dimension> pool, DecodeOpenPool(view));
  return PoolView{pool.blocked, pool.is_max, pool.count_include_pad, KnownWindow(pool.window)};
}

absl::Status RegisterPoolingOperators(OperatorRegistry& registry) {
  SLIPWAY_RETURN_IF_ERROR(registry.Add(PoolSchema("MaxPool", true, false)));
  SLIPWAY_RETURN_IF_ERROR(registry.Add(PoolSchema("AveragePool", false, false)));
  SLIPWAY_RETURN_IF_ERROR(registry.Add(PoolSchema("slipway.MaxPoolNCHWc", true, true)));
  SLIPWAY_RETURN_IF_ERROR(registry.Add(PoolSchema("slipway.AveragePoolNCHWc", false, true)));
  for (const char* name : {"GlobalAveragePool", "GlobalMaxPool"}) {
    OperatorSchema schema;
    schema.name = name;
    schema.pattern = Pattern::kReduction;
    schema.type_rule = GlobalPoolType;
    SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  }
  return absl::OkStatus();
}

}  // namespace slipway
