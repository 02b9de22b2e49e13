#include "core/operators/reduction.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/operators/contents.h"

namespace slipway {
namespace {

ValueType ReducedType(const NodeView& view, DataType dtype, const std::vector<int64_t>& axes,
                      bool keep_dims) {
  Dimensions reduced;
  for (int d = 0; d < view.input_type(0).rank(); ++d) {
    const bool gone = std::binary_search(axes.begin(), axes.end(), d);
    if (!gone) {
      reduced.push_back(view.input_type(0).dimension(d));
    } else if (keep_dims) {
      reduced.push_back(1);
    }
  }
  return ValueType(dtype, reduced);
}

// Which numbers the operator reduces: logarithms are of floats, and truth has a highest and a lowest.
absl::Status CheckReduced(const NodeView& view) {
  const bool extreme = view.op() == "ReduceMax" || view.op() == "ReduceMin";
  if (extreme && view.input_type(0).dtype() == DataType::kBool) return absl::OkStatus();
  const bool log = view.op() == "ReduceLogSum" || view.op() == "ReduceLogSumExp";
  return CheckDtype(view, 0, log ? TypeSet::kAnyFloat : TypeSet::kAnyNumeric);
}

// Of axes whose number is known, but not which they are.
absl::StatusOr<ValueType> TypeOverOpenAxes(const NodeView& view, size_t axes) {
  const ValueType& x = view.input_type(0);
  const auto rank = static_cast<size_t>(x.rank());
  if (axes > rank) return view.Error(absl::StrCat(axes, " axes of ", ToString(x)));
  if (view.Int("keepdims") == 0) return ValueType(x.dtype(), Dimensions(rank - axes));
  Dimensions reduced(rank);
  for (size_t d = 0; d < rank; ++d) {
    if (x.dimension(static_cast<int>(d)) == Dimension(1)) reduced[d] = 1;
  }
  return ValueType(x.dtype(), reduced);
}

absl::StatusOr<std::vector<ValueType>> ReduceType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckReduced(view));
  if (view.has_input(1)) {
    SLIPWAY_ASSIGN_OR_RETURN(const Dimensions axes, KnownInts(view, 1, "axes"));
    if (!KnownShape(axes).has_value()) {
      SLIPWAY_ASSIGN_OR_RETURN(const ValueType type, TypeOverOpenAxes(view, axes.size()));
      return std::vector<ValueType>{type};
    }
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ReduceView reduce, DecodeReduce(view));
  return std::vector<ValueType>{
      ReducedType(view, view.input_type(0).dtype(), reduce.axes, reduce.keep_dims)};
}

absl::StatusOr<std::vector<ValueType>> ArgMaxType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const ArgMaxView arg_max, DecodeArgMax(view));
  return std::vector<ValueType>{
      ReducedType(view, DataType::kInt64, {arg_max.axis}, arg_max.keep_dims)};
}

bool IsEmpty(const NodeView& view, int64_t axis) {
  return view.input_type(0).dimension(static_cast<int>(axis)) == Dimension(0);
}

absl::StatusOr<std::vector<ValueType>> CumulateType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  const DataType axis = view.input_type(1).dtype();
  if ((axis != DataType::kInt32 && axis != DataType::kInt64) ||
      view.Differ(NumElements(DimensionsOf(view, 1)), 1)) {
    return view.Error(absl::StrCat("the axis (input 1) is ", ToString(view.input_type(1)),
                                   ", it must be one i32 or i64"));
  }
  return std::vector<ValueType>{view.input_type(0)};
}

}  // namespace

absl::StatusOr<ReduceView> DecodeReduce(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckReduced(view));
  const int64_t rank = view.input_type(0).rank();
  ReduceView reduce;
  reduce.keep_dims = view.Int("keepdims") != 0;
  std::vector<int64_t> axes;
  if (view.has_input(1)) {
    SLIPWAY_ASSIGN_OR_RETURN(const Dimensions given, KnownInts(view, 1, "axes"));
    const std::optional<Shape> known = KnownShape(given);
    if (!known.has_value()) return view.RequireConstant(1, "axes").status();
    axes.assign(known->begin(), known->end());
  }
  if (axes.empty() && view.Int("noop_with_empty_axes") == 0) {
    reduce.axes.resize(rank);
    std::iota(reduce.axes.begin(), reduce.axes.end(), 0);
  } else {
    SLIPWAY_ASSIGN_OR_RETURN(reduce.axes, NormalizeAxes(view, axes, rank));
  }
  return reduce;
}

absl::StatusOr<ArgMaxView> DecodeArgMax(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  ArgMaxView arg_max;
  SLIPWAY_ASSIGN_OR_RETURN(arg_max.axis,
                           NormalizeAxis(view, view.Int("axis"), view.input_type(0).rank()));
  arg_max.keep_dims = view.Int("keepdims") != 0;
  arg_max.select_last = view.Int("select_last_index") != 0;
  if (IsEmpty(view, arg_max.axis)) {
    return view.Error("an empty dimension has no maximum or minimum");
  }
  return arg_max;
}

absl::Status RegisterReductionOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.pattern = Pattern::kReduction;
  schema.layout.role = LayoutRole::kSpatialReduction;
  schema.type_rule = ReduceType;
  schema.max_inputs = 2;
  schema.attributes = {IntAttribute("keepdims", 1), IntAttribute("noop_with_empty_axes", 0)};
  schema.name = "ReduceMean";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  schema.contents_rule = ReduceContents;
  schema.name = "ReduceMax";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  schema.layout = {};
  schema.name = "ReduceSum";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  schema.pattern = Pattern::kOpaque;
  for (const char* name : {"ReduceMin", "ReduceProd"}) {
    schema.name = name;
    SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  }
  schema.contents_rule = nullptr;
  for (const char* name :
       {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
    schema.name = name;
    SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  }

  schema.max_inputs = 1;
  schema.type_rule = ArgMaxType;
  schema.attributes = {IntAttribute("axis", 0), IntAttribute("keepdims", 1),
                       IntAttribute("select_last_index", 0)};
  schema.name = "ArgMin";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  schema.name = "ArgMax";
  schema.pattern = Pattern::kRereading;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  OperatorSchema cumulate;
  cumulate.min_inputs = cumulate.max_inputs = 2;
  cumulate.type_rule = CumulateType;
  cumulate.attributes = {IntAttribute("exclusive", 0), IntAttribute("reverse", 0)};
  for (const char* name : {"CumSum", "CumProd"}) {
    cumulate.name = name;
    SLIPWAY_RETURN_IF_ERROR(registry.Add(cumulate));
  }
  return absl::OkStatus();
}

}  // namespace slipway
