#include "core/operators/reshaping.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

using Types = absl::StatusOr<std::vector<TensorType>>;

Types WithShape(const NodeView& view, Shape shape) {
  return std::vector<TensorType>{{view.input_type(0).dtype, std::move(shape)}};
}

// The product of a part of a shape that passed CheckShape as a whole: with an extent of 0 elsewhere
// the part alone may still overflow.
absl::StatusOr<int64_t> Product(const NodeView& view, absl::Span<const int64_t> extents) {
  const auto bytes = CheckShape(extents, 1);
  if (!bytes.ok()) return view.Annotated(bytes.status());
  return *bytes;
}

Types ReshapeType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> wanted, ConstantInts(view, 1, "shape"));
  if (wanted.size() > kMaxRank) {
    return view.Error(
        absl::StrCat("a shape of ", wanted.size(), " dimensions is more than ", kMaxRank));
  }
  const Shape& from = view.input_shape(0);
  const bool copy_zeros = view.Int("allowzero") == 0;
  Shape to;
  int64_t open = -1;
  for (size_t d = 0; d < wanted.size(); ++d) {
    int64_t extent = wanted[d];
    if (extent == 0 && copy_zeros) {
      if (d >= from.size()) {
        return view.Error(absl::StrCat("0 at dimension ", d, " copies from ", ToString(from),
                                       ", which has no such dimension"));
      }
      extent = from[d];
    } else if (extent == -1) {
      if (open >= 0) return view.Error("a shape may hold only one -1");
      open = static_cast<int64_t>(d);
      extent = 1;
    } else if (extent < 0) {
      return view.Error(absl::StrCat("the shape holds ", extent));
    }
    to.push_back(extent);
  }
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t known, Product(view, to));
  const int64_t total = NumElements(from);
  if (open >= 0 && known > 0 && total % known == 0) to[open] = total / known;
  if (NumElements(to) != total || (open >= 0 && known == 0)) {
    return view.Error(
        absl::StrCat("cannot give ", ToString(from), " the shape ", ToString(wanted)));
  }
  return WithShape(view, to);
}

Types FlattenType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  const absl::Span<const int64_t> from = view.input_shape(0);
  const int64_t rank = static_cast<int64_t>(from.size());
  int64_t axis = view.Int("axis");
  if (axis < -rank || axis > rank) {
    return view.Error(absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank, "]"));
  }
  if (axis < 0) axis += rank;
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t outer, Product(view, from.subspan(0, axis)));
  SLIPWAY_ASSIGN_OR_RETURN(const int64_t inner, Product(view, from.subspan(axis)));
  return WithShape(view, {outer, inner});
}

Types SqueezeType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  const Shape& from = view.input_shape(0);
  std::vector<int64_t> axes;
  if (view.has_input(1)) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> given, ConstantInts(view, 1, "axes"));
    SLIPWAY_ASSIGN_OR_RETURN(axes, NormalizeAxes(view, given, from.size()));
  } else {
    for (size_t d = 0; d < from.size(); ++d) {
      if (from[d] == 1) axes.push_back(d);
    }
  }
  Shape to;
  for (int64_t d = 0; d < static_cast<int64_t>(from.size()); ++d) {
    if (!std::binary_search(axes.begin(), axes.end(), d)) {
      to.push_back(from[d]);
    } else if (from[d] != 1) {
      return view.Error(absl::StrCat("dimension ", d, " of ", ToString(from),
                                     " is not 1 and cannot be squeezed"));
    }
  }
  return WithShape(view, to);
}

Types UnsqueezeType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  const Shape& from = view.input_shape(0);
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> given, ConstantInts(view, 1, "axes"));
  const size_t rank = from.size() + given.size();
  if (rank > kMaxRank) return view.Error(absl::StrCat("rank ", rank, " is more than ", kMaxRank));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, NormalizeAxes(view, given, rank));
  Shape to;
  size_t next = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d) {
    to.push_back(std::binary_search(axes.begin(), axes.end(), d) ? 1 : from[next++]);
  }
  return WithShape(view, to);
}

Types ShapeType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> extents, DecodeShape(view));
  return std::vector<TensorType>{{DataType::kInt64, {static_cast<int64_t>(extents.size())}}};
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> DecodeShape(const NodeView& view) {
  const Shape& shape = view.input_shape(0);
  const int64_t rank = static_cast<int64_t>(shape.size());
  const auto clamp = [rank](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = clamp(view.Int("start"));
  const int64_t end = view.has("end") ? clamp(view.Int("end")) : rank;
  if (end <= start) return std::vector<int64_t>();
  return std::vector<int64_t>(shape.begin() + start, shape.begin() + end);
}

absl::Status RegisterReshapingOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.pattern = Pattern::kInjective;
  schema.movement = Movement::kView;

  schema.name = "Reshape";
  schema.min_inputs = schema.max_inputs = 2;
  schema.attributes = {IntAttribute("allowzero", 0)};
  schema.type_rule = ReshapeType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.attributes.clear();
  schema.name = "Unsqueeze";
  schema.type_rule = UnsqueezeType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.min_inputs = 1;
  schema.name = "Squeeze";
  schema.type_rule = SqueezeType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.max_inputs = 1;
  schema.name = "Flatten";
  schema.attributes = {IntAttribute("axis", 1)};
  schema.type_rule = FlattenType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.name = "Shape";
  schema.pattern = Pattern::kOpaque;
  schema.movement = Movement::kOther;
  schema.reads_types_only = true;
  schema.attributes = {IntAttribute("start", 0), IntAttribute("end", std::nullopt)};
  schema.type_rule = ShapeType;
  return registry.Add(schema);
}

}  // namespace slipway
