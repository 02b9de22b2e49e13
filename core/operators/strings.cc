#include "core/operators/strings.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/checks.h"

namespace slipway {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

absl::Status CheckStrings(const NodeView& view) {
  for (int i = 0; i < view.num_inputs(); ++i) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, i, {DataType::kString}));
  }
  return absl::OkStatus();
}

Types ConcatType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckStrings(view));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions dimensions, BroadcastAllInputs(view));
  return std::vector<ValueType>{ValueType(DataType::kString, dimensions)};
}

absl::StatusOr<Dimensions> PieceDimensions(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 0, kMaxRank - 1));
  if (view.has("maxsplit") && view.Int("maxsplit") < 0) {
    return view.Error(absl::StrCat("\"maxsplit\" is ", view.Int("maxsplit")));
  }
  Dimensions pieces = DimensionsOf(view, 0);
  pieces.push_back(Dimension());
  return pieces;
}

Types SplitType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckStrings(view));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions pieces, PieceDimensions(view));
  return std::vector<ValueType>{ValueType(DataType::kString, pieces),
                                ValueType(DataType::kInt64, DimensionsOf(view, 0))};
}

Types NormalizerType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckStrings(view));
  SLIPWAY_RETURN_IF_ERROR(CheckRank(view, 0, 1, 2));
  SLIPWAY_RETURN_IF_ERROR(DecodeStringNormalizer(view).status());
  Dimensions y = DimensionsOf(view, 0);
  if (y.size() == 2 && view.Differ(y[0], 1)) {
    return view.Error(absl::StrCat("x of shape ", ToString(y), " is no [n] and no [1, n]"));
  }
  if (y.size() == 2) y[0] = 1;
  y.back() = Dimension();
  return std::vector<ValueType>{ValueType(DataType::kString, y)};
}

Types MatchType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckStrings(view));
  return std::vector<ValueType>{ValueType(DataType::kBool, DimensionsOf(view, 0))};
}

Types CategoriesType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, {DataType::kString, DataType::kInt64}));
  SLIPWAY_RETURN_IF_ERROR(DecodeCategories(view).status());
  const bool from_strings = view.input_type(0).dtype() == DataType::kString;
  return std::vector<ValueType>{
      ValueType(from_strings ? DataType::kInt64 : DataType::kString, DimensionsOf(view, 0))};
}

// Those of our own.

// Each pair of inputs is places and contents.
absl::Status CheckPairs(const NodeView& view) {
  for (int i = 0; i < view.num_inputs(); i += 2) {
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, i, {DataType::kInt64}));
    SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, i + 1, {DataType::kUint8}));
    SLIPWAY_RETURN_IF_ERROR(CheckRank(view, i + 1, 1, 1));
  }
  return absl::OkStatus();
}

ValueType Places(Dimensions dimensions) { return ValueType(DataType::kInt64, dimensions); }
ValueType OpenContents() { return ValueType(DataType::kUint8, {Dimension()}); }

absl::StatusOr<Dimensions> BroadcastPairs(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckPairs(view));
  return BroadcastInputs(view, DimensionsOf(view, 0), DimensionsOf(view, 2));
}

Types PairEqualType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions dimensions, BroadcastPairs(view));
  return std::vector<ValueType>{ValueType(DataType::kBool, dimensions)};
}

Types PairConcatType(const NodeView& view) {
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions dimensions, BroadcastPairs(view));
  return std::vector<ValueType>{Places(dimensions), OpenContents()};
}

// Of StringFind and StringRank: a number for each string.
Types PairNumbersType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckPairs(view));
  return std::vector<ValueType>{ValueType(DataType::kInt64, DimensionsOf(view, 0))};
}

Types PairSplitType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckPairs(view));
  SLIPWAY_ASSIGN_OR_RETURN(const Dimensions pieces, PieceDimensions(view));
  return std::vector<ValueType>{Places(pieces), Places(DimensionsOf(view, 0))};
}

Types PairCaseType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckPairs(view));
  return std::vector<ValueType>{ValueType(DataType::kUint8, DimensionsOf(view, 1))};
}

Types OfNumberType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckDtype(view, 0, TypeSet::kAnyNumeric));
  return std::vector<ValueType>{Places(DimensionsOf(view, 0)), OpenContents()};
}

Types NumberOfType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckPairs(view));
  const auto to = DataTypeFromNumber(view.Int("to"));
  if (!to.ok()) return view.Annotated(to.status());
  if (!Contains(TypeSet::kAnyFloat, *to) && *to != DataType::kInt64 && *to != DataType::kUint64) {
    return view.Unimplemented(absl::StrCat("reading ", Name(*to), " is not supported"));
  }
  return std::vector<ValueType>{ValueType(*to, DimensionsOf(view, 0))};
}

Types PairMatchType(const NodeView& view) {
  SLIPWAY_RETURN_IF_ERROR(CheckPairs(view));
  return std::vector<ValueType>{ValueType(DataType::kBool, DimensionsOf(view, 0))};
}

AttributeSchema StringsAttribute(const char* name) {
  return AttributeSchema{name, AttributeKind::kStrings};
}

}  // namespace

absl::StatusOr<StringNormalizerView> DecodeStringNormalizer(const NodeView& view) {
  StringNormalizerView normalizer;
  if (view.has("stopwords")) normalizer.stopwords = view.Strings("stopwords");
  normalizer.is_case_sensitive = view.Int("is_case_sensitive") != 0;
  const std::string& change = view.String("case_change_action");
  if (change == "UPPER") {
    normalizer.change = CaseChange::kUpper;
  } else if (change == "LOWER") {
    normalizer.change = CaseChange::kLower;
  } else if (change != "NONE") {
    return view.Error(
        absl::StrCat("\"case_change_action\" is \"", change, "\", not UPPER, LOWER or NONE"));
  }
  return normalizer;
}

absl::StatusOr<CategoriesView> DecodeCategories(const NodeView& view) {
  CategoriesView categories{view.Strings("cats_strings"), view.Ints("cats_int64s")};
  if (categories.strings.size() == categories.numbers.size()) return categories;
  return view.Error(absl::StrCat(categories.strings.size(), " \"cats_strings\" and ",
                                 categories.numbers.size(), " \"cats_int64s\" do not fit"));
}

absl::Status RegisterStringsOperators(OperatorRegistry& registry) {
  const AttributeSchema delimiter = StringAttribute("delimiter", "");
  const AttributeSchema most = IntAttribute("maxsplit", std::nullopt);
  const AttributeSchema pattern = Required(StringAttribute("pattern", std::nullopt));
  const OperatorSchema schemas[] = {
      OpaqueSchema("StringConcat", 2, ConcatType),
      OpaqueSchema("StringSplit", 1, SplitType, {delimiter, most}, /*max_outputs=*/2),
      OpaqueSchema(
          "StringNormalizer", 1, NormalizerType,
          {StringAttribute("case_change_action", "NONE"), IntAttribute("is_case_sensitive", 0),
           StringAttribute("locale", std::nullopt), StringsAttribute("stopwords")}),
      OpaqueSchema("RegexFullMatch", 1, MatchType, {pattern}),
      OpaqueSchema(
          "ai.onnx.ml.CategoryMapper", 1, CategoriesType,
          {Required(IntsAttribute("cats_int64s")), Required(StringsAttribute("cats_strings")),
           IntAttribute("default_int64", -1), StringAttribute("default_string", "_Unused")}),

      OpaqueSchema("slipway.StringEqual", 4, PairEqualType),
      OpaqueSchema("slipway.StringConcat", 4, PairConcatType, {}, /*max_outputs=*/2),
      OpaqueSchema("slipway.StringFind", 4, PairNumbersType),
      OpaqueSchema("slipway.StringRank", 2, PairNumbersType),
      OpaqueSchema("slipway.StringSplit", 2, PairSplitType, {delimiter, most}, /*max_outputs=*/2),
      OpaqueSchema("slipway.StringCase", 2, PairCaseType,
                   {Required(IntAttribute("upper", std::nullopt))}),
      OpaqueSchema("slipway.StringOfNumber", 1, OfNumberType, {}, /*max_outputs=*/2),
      OpaqueSchema("slipway.NumberOfString", 2, NumberOfType,
                   {Required(IntAttribute("to", std::nullopt))}),
      OpaqueSchema("slipway.StringMatch", 2, PairMatchType, {pattern}),
  };
  return AddAll(registry, schemas);
}

}  // namespace slipway
