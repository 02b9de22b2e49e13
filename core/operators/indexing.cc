#include "core/operators/indexing.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

absl::Status CheckElements(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_RETURN_IF_ERROR(CheckIndices(view, 1));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  return CheckRank(view, 1, view.input_type(0).rank(), view.input_type(0).rank());
}

Types GatherElementsType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeElementsAxis(view).status());
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), DimensionsOf(view, 1))};
}

Types ScatterElementsType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeElementsAxis(view).status());
  SLIPWAY_RETURN_IF_ERROR(DecodeScatterReduction(view).status());
  if (view.Differ(DimensionsOf(view, 1), DimensionsOf(view, 2))) {
    return view.Error(absl::StrCat("indices of shape ", ToString(DimensionsOf(view, 1)),
                                   " and updates of shape ", ToString(DimensionsOf(view, 2)),
                                   " must be of one shape"));
  }
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), DimensionsOf(view, 0))};
}

// The length of the tuples that the indices of GatherND and ScatterND hold.
absl::StatusOr<int64_t> TupleLength(const NodeView& view, int64_t batch_dims) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_RETURN_IF_ERROR(CheckIndices(view, 1));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 1, 1));
  const Dimension length = DimensionsOf(view, 1).back();
  if (!length.is_known()) {
    return view.Unimplemented(absl::StrCat("indices of shape ", ToString(DimensionsOf(view, 1)),
                                           ", whose last extent is not known, are not supported"));
  }
  if (length.extent() < 1 || length.extent() > view.input_type(0).rank() - batch_dims) {
    return view.Error(absl::StrCat("indices of shape ", ToString(DimensionsOf(view, 1)),
                                   " hold tuples of ", length.extent(), ", data of shape ",
                                   ToString(DimensionsOf(view, 0)), " takes 1 to ",
                                   view.input_type(0).rank() - batch_dims));
  }
  return length.extent();
}

Types GatherNDType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t batch_dims, DecodeBatchDims(view));
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t length, TupleLength(view, batch_dims));
  Dimensions y = DimensionsOf(view, 1);
  y.pop_back();
  for (int64_t d = 0; d < batch_dims; ++d) {
    y[d] = MorePrecise(y[d], view.input_type(0).dimension(static_cast<int>(d)));
  }
  for (const Dimension& extent : DimensionsOf(view, 0, batch_dims + length)) y.push_back(extent);
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), y)};
}

Types ScatterNDType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeScatterReduction(view).status());
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t length, TupleLength(view, 0));
  Dimensions updates = DimensionsOf(view, 1);
  updates.pop_back();
  for (const Dimension& extent : DimensionsOf(view, 0, length)) updates.push_back(extent);
  if (view.Differ(updates, DimensionsOf(view, 2))) {
    return view.Error(absl::StrCat("updates of shape ", ToString(DimensionsOf(view, 2)), " where ",
                                   ToString(updates), " is needed"));
  }
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), DimensionsOf(view, 0))};
}

Types TensorScatterType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(DecodeTensorScatter(view).status());
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), DimensionsOf(view, 0))};
}

Types OneHotType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis, DecodeOneHotAxis(view));
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 2, TypeSet::kSized));
  if (view.Differ(DimensionsOf(view, 2), {Dimension(2)})) {
    return view.Error(absl::StrCat("the values (input 2) must be one for off and one for on, not ",
                                   ToString(view.input_type(2))));
  }
  SLIPWAY_ASSIGN_OR_RETURN(const Dimension depth, KnownWhole(view, 1, "depth"));
  Dimensions y = DimensionsOf(view, 0);
  y.insert(y.begin() + axis, depth);
  return std::vector<ValueType>{ValueType(view.input_type(2).dtype(), y)};
}

}  // namespace

absl::StatusOr<ScatterReduction> DecodeScatterReduction(const NodeView& view) {
  if (view.input_type(2).dtype() != view.input_type(0).dtype()) {
    return view.Error(absl::StrCat("updates of type ", Name(view.input_type(2).dtype()),
                                   " for data of type ", Name(view.input_type(0).dtype())));
  }
  const std::string& name = view.String("reduction");
  if (name == "none") return ScatterReduction::kNone;
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  if (name == "add") return ScatterReduction::kAdd;
  if (name == "mul") return ScatterReduction::kMul;
  if (name == "max") return ScatterReduction::kMax;
  if (name == "min") return ScatterReduction::kMin;
  return view.Error(
      absl::StrCat("\"reduction\" is \"", name, "\", not none, add, mul, max or min"));
}

absl::StatusOr<int64_t> DecodeElementsAxis(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckElements(view));
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t axis,
                           NormalizeAxis(view, view.Int("axis"), view.input_type(0).rank()));
  const Dimensions data = DimensionsOf(view, 0);
  const Dimensions indices = DimensionsOf(view, 1);
  for (size_t d = 0; d < data.size(); ++d) {
    if (static_cast<int64_t>(d) != axis && view.Exceeds(indices[d], data[d])) {
      return view.Error(absl::StrCat("indices of shape ", ToString(indices), " reach beyond ",
                                     ToString(data), " in dimension ", d));
    }
  }
  return axis;
}

absl::StatusOr<int64_t> DecodeBatchDims(const NodeView& view) {
  const int64_t batch_dims = view.Int("batch_dims");
  const Dimensions data = DimensionsOf(view, 0);
  const Dimensions indices = DimensionsOf(view, 1);
  if (batch_dims < 0 || batch_dims >= static_cast<int64_t>(std::min(data.size(), indices.size())) ||
      view.Differ(DimensionsOf(view, 0, 0, batch_dims), DimensionsOf(view, 1, 0, batch_dims))) {
    return view.Error(absl::StrCat("\"batch_dims\" is ", batch_dims, " for data of shape ",
                                   ToString(data), " and indices of shape ", ToString(indices)));
  }
  return batch_dims;
}

absl::StatusOr<TensorScatterView> DecodeTensorScatter(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 2));
  TensorScatterView scatter;
  const Dimensions cache = DimensionsOf(view, 0);
  SLIPWAY_ASSIGN_OR_RETURN(
      scatter.axis, NormalizeAxis(view, view.Int("axis"), static_cast<int64_t>(cache.size())));
  if (scatter.axis == 0) return view.Error("\"axis\" is that of the batch");
  const std::string& mode = view.String("mode");
  scatter.circular = mode == "circular";
  if (!scatter.circular && mode != "linear") {
    return view.Error(absl::StrCat("\"mode\" is \"", mode, "\", not linear or circular"));
  }
  Dimensions expected = cache;
  const Dimensions update = DimensionsOf(view, 1);
  if (update.size() == expected.size()) expected[scatter.axis] = update[scatter.axis];
  const bool longer =
      update.size() == cache.size() && view.Exceeds(update[scatter.axis], cache[scatter.axis]);
  if (view.input_type(1).dtype() != view.input_type(0).dtype() || view.Differ(update, expected) ||
      longer) {
    return view.Error(absl::StrCat("an update of ", ToString(view.input_type(1)),
                                   " does not fit a cache of ", ToString(view.input_type(0)),
                                   " along axis ", scatter.axis));
  }
  if (view.has_input(2) && (view.input_type(2).dtype() != DataType::kInt64 ||
                            view.Differ(DimensionsOf(view, 2), {cache[0]}))) {
    return view.Error(absl::StrCat("the write indices (input 2) must be i64[", ToString(cache[0]),
                                   "], not ", ToString(view.input_type(2))));
  }
  return scatter;
}

absl::StatusOr<int64_t> DecodeOneHotAxis(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  return NormalizeAxis(view, view.Int("axis"), view.input_type(0).rank() + 1);
}

absl::Status RegisterIndexingOperators(OperatorRegistry& registry) {
  const AttributeSchema axis = IntAttribute("axis", 0);
  const AttributeSchema reduction = StringAttribute("reduction", "none");
  const OperatorSchema schemas[] = {
      Moving(OpaqueSchema("GatherElements", 2, GatherElementsType, {axis})),
      Moving(OpaqueSchema("GatherND", 2, GatherNDType, {IntAttribute("batch_dims", 0)})),
      Moving(OpaqueSchema("OneHot", 3, OneHotType, {IntAttribute("axis", -1)})),
      Moving(OpaqueSchema("ScatterElements", 3, ScatterElementsType, {axis, reduction})),
      Moving(OpaqueSchema("ScatterND", 3, ScatterNDType, {reduction})),
      Moving(OpaqueSchema("TensorScatter", {2, 3}, TensorScatterType,
                          {IntAttribute("axis", -2), StringAttribute("mode", "linear")})),
  };
  return AddAll(registry, schemas);
}

}  // namespace slipway
