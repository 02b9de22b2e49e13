#include "core/reference/string_nodes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/operators/cast.h"
#include "core/operators/checks.h"
#include "core/operators/features.h"
#include "core/operators/strings.h"
#include "core/reference/string_node_writer.h"

namespace slipway {
namespace {

using Writer = StringNodeWriter;

// Every rule makes all outputs of the node.

// What moves elements moves places.
absl::Status Move(Writer& writer) {
  const NodeView& view = writer.view();
  std::vector<StringValue> strings;
  for (int i = 0; i < view.num_inputs(); ++i) {
    if (writer.IsString(i)) strings.push_back(writer.strings(i));
  }
  strings = writer.WithCommonContents(strings);
  std::vector<ValueId> inputs;
  size_t next = 0;
  for (int i = 0; i < view.num_inputs(); ++i) {
    inputs.push_back(writer.IsString(i) ? strings[next++].places : writer.input(i));
  }
  const std::vector<ValueId> outputs =
      writer.MakeMany(view.op(), inputs, view.num_outputs(), view.node().attributes);
  for (int i = 0; i < view.num_outputs(); ++i) {
    writer.SetOutput(i, StringValue{outputs[i], strings[0].contents});
  }
  return absl::OkStatus();
}

// Strings of which numbers are known.
ValueId Find(Writer& writer, const StringValue& strings, const std::vector<std::string>& keys) {
  const StringValue list = writer.Strings(keys);
  return writer.Make("slipway.StringFind",
                     {strings.places, strings.contents, list.places, list.contents});
}

// An output of the strings with these numbers.
void SetChosen(Writer& writer, int output, const std::vector<std::string>& strings,
               ValueId numbers) {
  const StringValue list = writer.Strings(strings);
  writer.SetOutput(output,
                   StringValue{writer.Make("Gather", {list.places, numbers}), list.contents});
}

std::vector<int64_t> UpTo(size_t count) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < count; ++i) numbers.push_back(static_cast<int64_t>(i));
  return numbers;
}

absl::Status Cast(Writer& writer) {
  const NodeView& view = writer.view();
  SLIPWAY_ASSIGN_OR_RETURN(const CastView cast, DecodeCast(view));
  const auto cast_to = [&writer](ValueId x, DataType to) {
    return writer.Make("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
  };
  if (!writer.IsString(0)) {
    ValueId x = writer.input(0);
    const DataType from = view.input_type(0).dtype();
    if (!Contains(TypeSet::kAnyNumeric, from)) x = cast_to(x, DataType::kFloat32);
    const std::vector<ValueId> made = writer.MakeMany("slipway.StringOfNumber", {x}, 2);
    writer.SetOutput(0, StringValue{made[0], made[1]});
    return absl::OkStatus();
  }
  const StringValue x = writer.strings(0);
  if (cast.to == DataType::kString) {
    writer.SetOutput(0, StringValue{writer.Make("Identity", {x.places}), x.contents});
    return absl::OkStatus();
  }
  DataType read = cast.to;
  if (!Contains(TypeSet::kAnyFloat, read) && read != DataType::kUint64) {
    read = Contains(TypeSet::kInteger, read) ? DataType::kInt64 : DataType::kFloat32;
  }
  const ValueId number = writer.Make("slipway.NumberOfString", {x.places, x.contents},
                                     {{"to", static_cast<int64_t>(read)}});
  writer.SetOutput(0, read == cast.to ? number : cast_to(number, cast.to));
  return absl::OkStatus();
}

absl::Status Equal(Writer& writer) {
  const StringValue a = writer.strings(0);
  const StringValue b = writer.strings(1);
  writer.SetOutput(
      0, writer.Make("slipway.StringEqual", {a.places, a.contents, b.places, b.contents}));
  return absl::OkStatus();
}

absl::Status Concat(Writer& writer) {
  const StringValue a = writer.strings(0);
  const StringValue b = writer.strings(1);
  const std::vector<ValueId> made =
      writer.MakeMany("slipway.StringConcat", {a.places, a.contents, b.places, b.contents}, 2);
  writer.SetOutput(0, StringValue{made[0], made[1]});
  return absl::OkStatus();
}

absl::Status Split(Writer& writer) {
  const StringValue x = writer.strings(0);
  const std::vector<ValueId> made = writer.MakeMany("slipway.StringSplit", {x.places, x.contents},
                                                    2, writer.view().node().attributes);
  writer.SetOutput(0, StringValue{made[0], x.contents});
  if (writer.view().has_output(1)) writer.SetOutput(1, made[1]);
  return absl::OkStatus();
}

absl::Status Match(Writer& writer) {
  const StringValue x = writer.strings(0);
  writer.SetOutput(0, writer.Make("slipway.StringMatch", {x.places, x.contents},
                                  writer.view().node().attributes));
  return absl::OkStatus();
}

StringValue InCase(Writer& writer, const StringValue& x, CaseChange change) {
  if (change == CaseChange::kNone) return x;
  const int64_t upper = change == CaseChange::kUpper;
  return {x.places, writer.Make("slipway.StringCase", {x.places, x.contents}, {{"upper", upper}})};
}

// What is no stop word, or one empty string where nothing is left.
absl::Status Normalize(Writer& writer) {
  SLIPWAY_ASSIGN_OR_RETURN(const StringNormalizerView normalizer,
                           DecodeStringNormalizer(writer.view()));
  const StringValue x = writer.strings(0);
  const CaseChange compared = normalizer.is_case_sensitive ? CaseChange::kNone : CaseChange::kLower;
  const StringValue words = InCase(writer, writer.Strings(normalizer.stopwords), compared);
  const StringValue asked = InCase(writer, x, compared);
  const ValueId found = writer.Make("slipway.StringFind",
                                    {asked.places, asked.contents, words.places, words.contents});
  const ValueId list = writer.Ints({-1});
  const ValueId stays = writer.Make(
      "Reshape",
      {writer.Make("Equal", {found, writer.Int(std::ssize(normalizer.stopwords))}), list});
  const ValueId count =
      writer.Make("ReduceSum", {writer.Make("Cast", {stays}, {{"to", int64_t{7}}})},
                  {{"keepdims", int64_t{1}}});
  const ValueId none = writer.Make("Equal", {count, writer.Int(0)});
  const ValueId places = writer.Make("Reshape", {x.places, list});
  const ValueId all = writer.Make("Concat", {places, writer.Ints({0})}, {{"axis", int64_t{0}}});
  const ValueId kept = writer.Make("Concat", {stays, none}, {{"axis", int64_t{0}}});
  ValueId y = writer.Make("Compress", {all, kept}, {{"axis", int64_t{0}}});
  if (writer.view().input_type(0).rank() == 2) {
    y = writer.Make("Unsqueeze", {y, writer.Ints({0})});
  }
  writer.SetOutput(0, InCase(writer, {y, x.contents}, normalizer.change));
  return absl::OkStatus();
}

// By numbers in the order of the strings.
absl::Status Unique(Writer& writer) {
  const NodeView& view = writer.view();
  const StringValue x = writer.strings(0);
  const ValueId ranks = writer.Make("slipway.StringRank", {x.places, x.contents});
  const std::vector<ValueId> made = writer.MakeMany("Unique", {ranks}, 4, view.node().attributes);
  ValueId places = x.places;
  int64_t axis = 0;
  if (view.has("axis")) {
    axis = view.Int("axis");
  } else {
    places = writer.Make("Reshape", {places, writer.Ints({-1})});
  }
  writer.SetOutput(
      0, StringValue{writer.Make("Gather", {places, made[1]}, {{"axis", axis}}), x.contents});
  for (int i = 1; i < view.num_outputs(); ++i) writer.SetOutput(i, made[i]);
  return absl::OkStatus();
}

absl::Status CountGrams(Writer& writer) {
  const NodeView& view = writer.view();
  Attributes attributes = writer.AttributesWithout({"pool_strings"});
  attributes.Set("pool_int64s", NumberedPool(view.Strings("pool_strings")));
  const ValueId numbers = Find(writer, writer.strings(0), view.Strings("pool_strings"));
  writer.SetOutput(0, writer.Make("TfIdfVectorizer", {numbers}, std::move(attributes)));
  return absl::OkStatus();
}

// Where in the keys the elements of x are; as many as there are keys for what is none.
ValueId FindKeys(Writer& writer, const LabelEncoderView& encoder) {
  if (writer.IsString(0)) return Find(writer, writer.strings(0), encoder.keys.strings);
  Attributes attributes = writer.AttributesWithout(
      {"values_tensor", "values_int64s", "values_floats", "values_strings", "default_tensor",
       "default_int64", "default_float", "default_string"});
  attributes.Set("values_int64s", UpTo(encoder.keys.size()));
  attributes.Set("default_int64", static_cast<int64_t>(encoder.keys.size()));
  return writer.Make(writer.view().op(), {writer.input(0)}, std::move(attributes));
}

absl::Status EncodeLabels(Writer& writer) {
  SLIPWAY_ASSIGN_OR_RETURN(const LabelEncoderView encoder, DecodeLabelEncoder(writer.view()));
  const ValueId found = FindKeys(writer, encoder);
  if (encoder.values.dtype == DataType::kString) {
    std::vector<std::string> values = encoder.values.strings;
    values.push_back(encoder.otherwise.strings[0]);
    SetChosen(writer, 0, values, found);
    return absl::OkStatus();
  }
  SLIPWAY_ASSIGN_OR_RETURN(Tensor values, ToTensor(encoder.values));
  SLIPWAY_ASSIGN_OR_RETURN(Tensor otherwise, ToTensor(encoder.otherwise));
  const ValueId all = writer.Make(
      "Concat", {writer.Constant(std::move(values)), writer.Constant(std::move(otherwise))},
      {{"axis", int64_t{0}}});
  writer.SetOutput(0, writer.Make("Gather", {all, found}));
  return absl::OkStatus();
}

absl::Status MapCategories(Writer& writer) {
  SLIPWAY_ASSIGN_OR_RETURN(const CategoriesView categories, DecodeCategories(writer.view()));
  if (writer.IsString(0)) {
    std::vector<int64_t> numbers = categories.numbers;
    numbers.push_back(writer.view().Int("default_int64"));
    const ValueId found = Find(writer, writer.strings(0), categories.strings);
    writer.SetOutput(0, writer.Make("Gather", {writer.Ints(numbers), found}));
    return absl::OkStatus();
  }
  const ValueId found =
      writer.Make("ai.onnx.ml.LabelEncoder", {writer.input(0)},
                  {{"keys_int64s", categories.numbers},
                   {"values_int64s", UpTo(categories.numbers.size())},
                   {"default_int64", static_cast<int64_t>(categories.numbers.size())}});
  std::vector<std::string> strings = categories.strings;
  strings.push_back(writer.view().String("default_string"));
  SetChosen(writer, 0, strings, found);
  return absl::OkStatus();
}

absl::Status EncodeOneHot(Writer& writer) {
  const std::vector<std::string>& categories = writer.view().Strings("cats_strings");
  Attributes attributes = writer.AttributesWithout({"cats_strings"});
  attributes.Set("cats_int64s", UpTo(categories.size()));
  const ValueId found = Find(writer, writer.strings(0), categories);
  writer.SetOutput(0, writer.Make(writer.view().op(), {found}, std::move(attributes)));
  return absl::OkStatus();
}

// The same classifier with numbers for labels, which are chosen by them. `labels` is its attribute of numbers.
absl::Status Classify(Writer& writer, const char* labels) {
  const NodeView& view = writer.view();
  const std::vector<std::string>& strings = view.Strings("classlabels_strings");
  Attributes attributes = writer.AttributesWithout({"classlabels_strings"});
  attributes.Set(labels, UpTo(strings.size()));
  const std::vector<ValueId> made =
      writer.MakeMany(view.op(), {writer.input(0)}, 2, std::move(attributes));
  SetChosen(writer, 0, strings, made[0]);
  if (view.has_output(1)) writer.SetOutput(1, made[1]);
  return absl::OkStatus();
}
absl::Status ClassifyByTrees(Writer& writer) { return Classify(writer, "classlabels_int64s"); }
absl::Status ClassifyByVectors(Writer& writer) { return Classify(writer, "classlabels_ints"); }

struct Rule {
  const char* op;
  absl::Status (*write)(Writer& writer);
};
constexpr Rule kRules[] = {
    {"Cast", Cast},
    {"CastLike", Cast},
    {"Equal", Equal},
    {"RegexFullMatch", Match},
    {"StringConcat", Concat},
    {"StringNormalizer", Normalize},
    {"StringSplit", Split},
    {"TfIdfVectorizer", CountGrams},
    {"Unique", Unique},
    {"ai.onnx.ml.CategoryMapper", MapCategories},
    {"ai.onnx.ml.LabelEncoder", EncodeLabels},
    {"ai.onnx.ml.OneHotEncoder", EncodeOneHot},
    {"ai.onnx.ml.SVMClassifier", ClassifyByVectors},
    {"ai.onnx.ml.TreeEnsembleClassifier", ClassifyByTrees},
};

const Rule* FindRule(absl::string_view op) {
  const auto* const found = std::find_if(std::begin(kRules), std::end(kRules),
                                         [op](const Rule& rule) { return op == rule.op; });
  return found == std::end(kRules) ? nullptr : found;
}

}  // namespace

bool HasStringRule(absl::string_view op) { return FindRule(op) != nullptr; }

bool HasStrings(const NodeView& view, absl::Span<const ValueType> outputs) {
  for (int i = 0; i < view.num_inputs(); ++i) {
    if (view.has_input(i) && view.input_type(i).dtype() == DataType::kString) return true;
  }
  for (int i = 0; i < view.num_outputs(); ++i) {
    if (view.has_output(i) && outputs[i].dtype() == DataType::kString) return true;
  }
  return false;
}

absl::StatusOr<Graph> WithoutStrings(const NodeView& view, absl::Span<const ValueType> outputs,
                                     const OperatorRegistry& registry) {
  StringNodeWriter writer(view, outputs, registry);
  const Rule* rule = FindRule(view.op());
  if (rule != nullptr) {
    SLIPWAY_RETURN_IF_ERROR(rule->write(writer));
  } else if (view.schema().moves_elements || view.schema().reads_types_only) {
    SLIPWAY_RETURN_IF_ERROR(Move(writer));
  } else {
    return view.Unimplemented("strings are not supported there");
  }
  return std::move(writer).Finish();
}

}  // namespace slipway
