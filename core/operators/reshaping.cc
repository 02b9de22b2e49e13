#include "core/operators/reshaping.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"
#include "core/operators/contents.h"

namespace slipway {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

Types WithDimensions(const NodeView& view, const Dimensions& dimensions) {
  return std::vector<ValueType>{ValueType(view.input_type(0).dtype(), dimensions)};
}

// The product of a part of a type that passed CheckType as a whole: with an extent of 0 elsewhere
// the part alone may still overflow.
absl::StatusOr<Dimension> Product(const NodeView& view, const Dimensions& extents) {
  const std::optional<Shape> known = KnownShape(extents);
  if (!known.has_value()) return NumElements(extents);
  const auto bytes = CheckShape(*known, 1);
  if (!bytes.ok()) return view.Annotated(bytes.status());
  return Dimension(*bytes);
}

// What an extent of -1 stands for: the `from` elements over the `others`.
Dimension Remaining(const Dimension& from, const Dimension& others) {
  if (from.is_unknown() || others.is_unknown()) return Dimension();
  const auto exact = ExactQuotient(from.expression(), others.expression());
  return exact.has_value() ? Dimension(*exact) : FloorDivide(from, others);
}

Types ReshapeType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions wanted, KnownInts(view, 1, "shape"));
  if (wanted.size() > kMaxRank) {
    return view.Error(
        absl::StrCat("a shape of ", wanted.size(), " dimensions is more than ", kMaxRank));
  }
  const Dimensions from = DimensionsOf(view, 0);
  const bool copy_zeros = view.Int("allowzero") == 0;
  Dimensions to;
  // Extents that are copied are the same on both sides, known or not, so that the others decide.
  Dimensions from_rest = from;
  Dimensions to_rest;
  int64_t open = -1;
  for (size_t d = 0; d < wanted.size(); ++d) {
    if (wanted[d] == Dimension(0) && copy_zeros) {
      if (d >= from.size()) {
        return view.Error(absl::StrCat("0 at dimension ", d, " copies from ", ToString(from),
                                       ", which has no such dimension"));
      }
      to.push_back(from[d]);
      // A 0 among them decides about everything.
      if (from[d] == Dimension(0)) {
        to_rest.push_back(from[d]);
      } else {
        from_rest[d] = 1;
      }
    } else if (wanted[d] == Dimension(-1)) {
      if (open >= 0) return view.Error("a shape may hold only one -1");
      open = static_cast<int64_t>(d);
      to.push_back(1);
    } else if (wanted[d].is_known() && wanted[d].extent() < 0) {
      return view.Error(absl::StrCat("the shape holds ", wanted[d].extent()));
    } else {
      to.push_back(wanted[d]);
      to_rest.push_back(wanted[d]);
    }
  }
  SLIPWAY_RETURN_IF_ERROR(Product(view, to).status());
  SLIPWAY_ASSIGN_OR_RETURN(const Dimension before, Product(view, from_rest));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimension others, Product(view, to_rest));
  bool fits = true;
  if (open < 0) {
    fits = !view.Differ(before, others);
  } else if (before.is_known() && others.is_known()) {
    fits = others.extent() > 0 && before.extent() % others.extent() == 0;
    if (fits) to[open] = before.extent() / others.extent();
  } else {
    fits = others != Dimension(0);
    to[open] = Remaining(before, others);
    fits = fits && !view.Differ(to[open] * others, before);
  }
  if (!fits) {
    return view.Error(
        absl::StrCat("cannot give ", ToString(from), " the shape ", ToString(wanted)));
  }
  return WithDimensions(view, to);
}

Types FlattenType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  const int64_t rank = view.input_type(0).rank();
  int64_t axis = view.Int("axis");
  if (axis < -rank || axis > rank) {
    return view.Error(absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank, "]"));
  }
  if (axis < 0) axis += rank;
  SLIPWAY_ASSIGN_OR_RETURN(const Dimension outer, Product(view, DimensionsOf(view, 0, 0, axis)));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimension inner, Product(view, DimensionsOf(view, 0, axis)));
  return WithDimensions(view, {outer, inner});
}

Types SqueezeType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  const Dimensions from = DimensionsOf(view, 0);
  std::vector<int64_t> axes;
  if (view.has_input(1)) {
    SLIPWAY_ASSIGN_OR_RETURN(const Dimensions given, KnownInts(view, 1, "axes"));
    const std::optional<Shape> named = KnownShape(given);
    if (!named.has_value() && given.size() <= from.size()) {
      return WithDimensions(view, Dimensions(from.size() - given.size()));
    }
    if (!named.has_value()) {
      return view.Error(absl::StrCat(given.size(), " axes of ", ToString(from)));
    }
    SLIPWAY_ASSIGN_OR_RETURN(axes,
                             NormalizeAxes(view, {named->begin(), named->end()}, from.size()));
  } else {
    for (size_t d = 0; d < from.size(); ++d) {
      if (!from[d].is_known()) {
        return view.Unimplemented(absl::StrCat("which dimensions of ", ToString(from),
                                               " are 1 is not known; name them by axes"));
      }
      if (from[d] == Dimension(1)) axes.push_back(d);
    }
  }
  Dimensions to;
  for (int64_t d = 0; d < static_cast<int64_t>(from.size()); ++d) {
    if (!std::binary_search(axes.begin(), axes.end(), d)) {
      to.push_back(from[d]);
    } else if (view.Differ(from[d], 1)) {
      return view.Error(absl::StrCat("dimension ", d, " of ", ToString(from),
                                     " is not 1 and cannot be squeezed"));
    }
  }
  return WithDimensions(view, to);
}

Types UnsqueezeType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  const Dimensions from = DimensionsOf(view, 0);
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions given, KnownInts(view, 1, "axes"));
  const size_t rank = from.size() + given.size();
  if (rank > kMaxRank) return view.Error(absl::StrCat("rank ", rank, " is more than ", kMaxRank));
  const std::optional<Shape> named = KnownShape(given);
  if (!named.has_value()) return WithDimensions(view, Dimensions(rank));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                           NormalizeAxes(view, {named->begin(), named->end()}, rank));
  Dimensions to;
  size_t next = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d) {
    to.push_back(std::binary_search(axes.begin(), axes.end(), d) ? Dimension(1) : from[next++]);
  }
  return WithDimensions(view, to);
}

// The extents stand in the type of the output alone.
Types ViewType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  const int64_t rank = view.Int("rank");
  if (rank < 0 || rank > kMaxRank) return view.Error(absl::StrCat("\"rank\" is ", rank));
  return WithDimensions(view, Dimensions(static_cast<size_t>(rank)));
}

Types AgainType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kSized));
  return WithDimensions(view, view.input_type(0).dimensions());
}

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
};

// Of the input's dimensions, those whose extents a Shape node makes.
Range ShapeRange(const NodeView& view) {
  const int64_t rank = view.input_type(0).rank();
  const auto clamp = [rank](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t begin = clamp(view.Int("start"));
  const int64_t end = view.has("end") ? clamp(view.Int("end")) : rank;
  return {begin, std::max(begin, end)};
}

Types ShapeType(const NodeView& view) {
  const Range range = ShapeRange(view);
  return std::vector<ValueType>{ValueType(DataType::kInt64, {range.end - range.begin})};
}

Types SizeType(const NodeView&) {
  return std::vector<ValueType>{ValueType(DataType::kInt64, Dimensions())};
}

}  // namespace

Dimensions OpenShape(const NodeView& view) {
  const Range range = ShapeRange(view);
  return DimensionsOf(view, 0, range.begin, range.end - range.begin);
}

ShapeView DecodeShape(const NodeView& view) {
  const Range range = ShapeRange(view);
  return {range.begin, range.end};
}

// What is known of Shape's and Size's elements is their input's type.
namespace {

Dimensions SizeContents(const NodeView& view) { return {NumElements(DimensionsOf(view, 0))}; }

}  // namespace

absl::Status RegisterReshapingOperators(OperatorRegistry& registry) {
  OperatorSchema schema;
  schema.pattern = Pattern::kInjective;
  schema.movement = Movement::kView;
  schema.moves_elements = true;

  schema.name = "Reshape";
  schema.contents_rule = SameContents;
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

  schema.name = "slipway.View";
  schema.attributes = {Required(IntAttribute("rank", std::nullopt))};
  schema.type_rule = ViewType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.attributes.clear();
  schema.name = kAgainOperator;
  schema.layout.role = LayoutRole::kElementwise;
  schema.type_rule = AgainType;
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));

  schema.layout = {};
  schema.contents_rule = nullptr;
  schema.pattern = Pattern::kOpaque;
  schema.movement = Movement::kOther;
  schema.moves_elements = false;
  schema.reads_types_only = true;
  schema.type_rule = SizeType;
  schema.contents_rule = SizeContents;
  schema.name = "Size";
  SLIPWAY_RETURN_IF_ERROR(registry.Add(schema));
  schema.attributes = {IntAttribute("start", 0), IntAttribute("end", std::nullopt)};
  schema.type_rule = ShapeType;
  schema.contents_rule = OpenShape;
  schema.name = "Shape";
  return registry.Add(schema);
}

}  // namespace slipway
