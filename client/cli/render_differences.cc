
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/render.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

// Of the values that differ; JSON has all.
constexpr int64_t kShownValues = 20;

std::string Number(double value) { return absl::StrFormat("%.3g", value); }

std::vector<std::string> RowOf(const ComparedValue& value) {
  if (!value.difference.has_value()) {
    return {value.name, absl::StrCat(ToString(value.actual), ", not ", ToString(value.expected)),
            "",         "",
            "",         ""};
  }
  const TensorDifference& difference = *value.difference;
  return {value.name,
          ToString(value.expected),
          absl::StrCat(difference.differing, " of ", difference.count,
                       difference.not_finite > 0
                           ? absl::StrCat(", ", difference.not_finite, " not finite")
                           : ""),
          Number(difference.absolute),
          Number(difference.relative),
          absl::StrCat(ToString(difference.at), ": ", difference.actual, ", not ",
                       difference.expected)};
}

std::string CountText(const ValueDifferences& differences) {
  std::string text = absl::StrCat(differences.values.size(), " values compared");
  if (differences.only_actual > 0 || differences.only_expected > 0) {
    absl::StrAppend(&text, " (skipped: ", differences.only_actual, " that only the first has, ",
                    differences.only_expected, " that only the second has)");
  }
  return text;
}

}  // namespace

std::string RenderDifferences(const ValueDifferences& differences) {
  if (!differences.first.has_value()) {
    return absl::StrCat(CountText(differences), ": all agree\n");
  }
  const ComparedValue& first = differences.values[*differences.first];
  std::string text = absl::StrCat(CountText(differences), ": ", differences.differing,
                                  " differ, first \"", Printable(first.name), "\"\n");
  TextTable table({"VALUE", "TYPE", "DIFFERING", ">ABSOLUTE", ">RELATIVE", "FURTHEST"});
  int64_t shown = 0;
  for (const ComparedValue& value : differences.values) {
    if (!value.IsClose() && shown++ < kShownValues) table.Row(RowOf(value));
  }
  text += table.Render();
  if (shown > kShownValues) absl::StrAppend(&text, "... and ", shown - kShownValues, " more\n");
  return text;
}

std::string RenderDifferencesJson(const ValueDifferences& differences) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Integer("compared", static_cast<int64_t>(differences.values.size()));
  json.Integer("differing", differences.differing);
  differences.first.has_value()
      ? json.Text("first_differing", differences.values[*differences.first].name)
      : json.Null("first_differing");
  json.Integer("only_first", differences.only_actual);
  json.Integer("only_second", differences.only_expected);
  json.BeginArray("values");
  for (const ComparedValue& value : differences.values) {
    json.BeginObject();
    json.Text("name", value.name);
    json.Bool("close", value.IsClose());
    json.Text("first_type", ToString(value.actual));
    json.Text("second_type", ToString(value.expected));
    json.Real("relative_tolerance", value.tolerance.relative);
    json.Real("absolute_tolerance", value.tolerance.absolute);
    if (value.difference.has_value()) {
      const TensorDifference& difference = *value.difference;
      json.Integer("count", difference.count);
      json.Integer("differing", difference.differing);
      json.Integer("not_finite", difference.not_finite);
      json.Real("largest_absolute", difference.absolute);
      json.Real("largest_relative", difference.relative);
      if (difference.differing > 0) {
        json.Integers("at", difference.at);
        json.Text("first_value", difference.actual);
        json.Text("second_value", difference.expected);
      }
    }
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
