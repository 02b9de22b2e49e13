#include "core/operators/pooling.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

absl::StatusOr<int64_t> DecodeP(const NodeView& view) {
  if (view.Int("p") < 1) return view.Error(absl::StrCat("\"p\" is ", view.Int("p")));
  return view.Int("p");
}

absl::StatusOr<BasicPoolView<Dimension>> DecodeOpenPool(const NodeView& view) {
  BasicPoolView<Dimension> pool;
  pool.blocked = view.op() == "slipway.MaxPoolNCHWc" || view.op() == "slipway.AveragePoolNCHWc";
  pool.is_max = view.op() == "MaxPool" || view.op() == "slipway.MaxPoolNCHWc";
  if (view.op() == "LpPool") {
    SLIPWAY_ASSIGN_OR_RETURN(pool.p, DecodeP(view));
  }
  SLIPWAY_RETURN_IF_ERROR(
      CheckDtype(view, 0, pool.is_max ? TypeSet::kAnyNumeric : TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, pool.blocked ? 5 : 3, 5));
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
  std::vector<ValueType> types = {ValueType(view.input_type(0).dtype(), y)};
  if (view.has_output(1)) types.emplace_back(DataType::kInt64, y);
  return types;
}

absl::StatusOr<std::vector<ValueType>> GlobalPoolType(const NodeView& view) {
  if (view.has("p")) SLIPWAY_RETURN_IF_ERROR(DecodeP(view).status());
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
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

// What MaxUnpool's pooling had of extents.
Dimensions PooledExtents(const NodeView& view, const UnpoolView& unpool) {
  Dimensions extents = DimensionsOf(view, 0, 2);
  for (size_t d = 0; d < extents.size(); ++d) {
    extents[d] = (extents[d] - 1) * unpool.strides[d] + unpool.rests[d];
  }
  return extents;
}

absl::StatusOr<std::vector<ValueType>> MaxUnpoolType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const UnpoolView unpool, DecodeMaxUnpool(view));
  Dimensions y = DimensionsOf(view, 0, 0, 2);
  for (const Dimension& extent : PooledExtents(view, unpool)) y.push_back(extent);
  if (view.has_input(2)) {
    SLIPWAY_ASSIGN_OR_RETURN(const Dimensions shape, KnownInts(view, 2, "output shape"));
    if (shape.size() != y.size()) {
      return view.Error(absl::StrCat("the output shape ", ToString(shape), " (input 2) for x of ",
                                     ToString(view.input_type(0))));
    }
    y = shape;
    if (view.Differ(DimensionsOf(view, 0, 0, 2), {y[0], y[1]})) {
      return view.Error(absl::StrCat("the output shape ", ToString(shape),
                                     " has not batch and channels of ",
                                     ToString(view.input_type(0))));
    }
  }
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

OperatorSchema PoolSchema(absl::string_view name, bool is_max, bool blocked) {
  OperatorSchema schema;
  schema.name = std::string(name);
  schema.pattern = Pattern::kRereading;
  schema.keeps_images = true;
  schema.type_rule = PoolType;
  schema.attributes = {Required(IntsAttribute("kernel_shape")), IntsAttribute("strides"),
                       IntsAttribute("pads"), IntsAttribute("dilations"),
                       IntAttribute("ceil_mode", 0)};
  if (!blocked) schema.attributes.push_back(StringAttribute("auto_pad", "NOTSET"));
  if (name == "LpPool") {
    schema.attributes.push_back(IntAttribute("p", 2));
    schema.pattern = Pattern::kOpaque;
    return schema;
  }
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
  SLIPWAY_ASSIGN_OR_RETURN(const BasicPoolView<Dimension> pool, DecodeOpenPool(view));
  SLIPWAY_ASSIGN_OR_RETURN(Window window, KnownWindow(view, pool.window));
  return PoolView{pool.blocked, pool.is_max, pool.count_include_pad, pool.p, std::move(window)};
}

absl::StatusOr<UnpoolView> DecodeMaxUnpool(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyFloat));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 3));
  if (view.input_type(1).dtype() != DataType::kInt64 ||
      view.Differ(DimensionsOf(view, 0), DimensionsOf(view, 1))) {
    return view.Error(absl::StrCat("indices of ", ToString(view.input_type(1)), " for x of ",
                                   ToString(view.input_type(0))));
  }
  const size_t rank = view.input_type(0).rank() - 2;
  const std::vector<int64_t>& kernel = view.Ints("kernel_shape");
  const auto or_else = [&view](const char* name, size_t count, int64_t value) {
    return view.has(name) ? view.Ints(name) : std::vector<int64_t>(count, value);
  };
  UnpoolView unpool;
  unpool.strides = or_else("strides", rank, 1);
  const std::vector<int64_t> pads = or_else("pads", 2 * rank, 0);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  bool fits = kernel.size() == rank && unpool.strides.size() == rank && pads.size() == 2 * rank;
  for (size_t d = 0; fits && d < rank; ++d) {
    const auto in_range = [](int64_t value, int64_t least) {
      return value >= least && value <= kMost;
    };
    fits = in_range(kernel[d], 1) && in_range(unpool.strides[d], 1) && in_range(pads[d], 0) &&
           in_range(pads[rank + d], 0);
    if (fits) unpool.rests.push_back(kernel[d] - pads[d] - pads[rank + d]);
  }
  if (!fits) {
    return view.Error(absl::StrCat("a kernel of ", ToString(kernel), " with strides ",
                                   ToString(unpool.strides), " and pads ", ToString(pads),
                                   " for x of ", ToString(view.input_type(0))));
  }
  for (const Dimension& extent : PooledExtents(view, unpool)) {
    if (extent.is_known() && (extent.extent() < 1 || extent.extent() > kMost)) {
      return view.Error(absl::StrCat("a pooling of ", extent.extent(), " elements"));
    }
  }
  return unpool;
}

absl::Status RegisterPoolingOperators(OperatorRegistry& registry) {
  SLIPWAY_RETURN_IF_ERROR(registry.Add(PoolSchema("MaxPool", true, false)));
  SLIPWAY_RETURN_IF_ERROR(registry.Add(PoolSchema("AveragePool", false, false)));
  SLIPWAY_RETURN_IF_ERROR(registry.Add(PoolSchema("slipway.MaxPoolNCHWc", true, true)));
  SLIPWAY_RETURN_IF_ERROR(registry.Add(PoolSchema("slipway.AveragePoolNCHWc", false, true)));
  SLIPWAY_RETURN_IF_ERROR(registry.Add(PoolSchema("LpPool", false, false)));

  OperatorSchema global_lp;
  global_lp.name = "GlobalLpPool";
  global_lp.type_rule = GlobalPoolType;
  global_lp.attributes = {IntAttribute("p", 2)};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(global_lp));

  OperatorSchema unpool;
  unpool.name = "MaxUnpool";
  unpool.min_inputs = 2;
  unpool.max_inputs = 3;
  unpool.type_rule = MaxUnpoolType;
  unpool.attributes = {Required(IntsAttribute("kernel_shape")), IntsAttribute("strides"),
                       IntsAttribute("pads")};
  SLIPWAY_RETURN_IF_ERROR(registry.Add(unpool));
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
