#include "client/cli/render_check.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

std::string Number(double value) { return absl::StrFormat("%.3g", value); }

std::vector<std::string> RowOf(const ComparedValue& value) {
  const std::string verdict = value.IsClose() ? "agrees" : "WRONG";
  if (!value.difference.has_value()) {
    return {value.name, absl::StrCat(ToString(value.actual), ", not ", ToString(value.expected)),
            "-",        "-",
            "-",        "-",
            verdict};
  }
  const TensorDifference& difference = *value.difference;
  return {value.name,
          ToString(value.expected),
          Number(difference.absolute),
          Number(difference.mean),
          Number(difference.ulps),
          Number(value.tolerance.absolute),
          verdict};
}

}  // namespace

std::string RenderCheck(const OutputCheck& check) {
  TextTable table({"OUTPUT", "TYPE", ">LARGEST ERROR", ">MEAN", ">ULPS", ">ALLOWED", ""});
  for (const ComparedValue& value : check.differences.values) table.Row(RowOf(value));
  std::string text = absl::StrCat("\n", table.Render());
  if (check.IsPassed()) {
    const size_t outputs = check.differences.values.size();
    absl::StrAppend(&text, "checked: ", outputs, outputs == 1 ? " output agrees" : " outputs agree",
                    " with the model, as the reference computes it\n");
  } else {
    absl::StrAppend(&text, "checked: ", Printable(DescribeFailure(check)), "\n");
  }
  return text;
}

void CheckJson(JsonWriter& json, const OutputCheck& check) {
  json.BeginObject("check");
  json.Bool("passed", check.IsPassed());
  json.Real("tolerance", check.tolerance);
  json.BeginArray("outputs");
  for (const ComparedValue& value : check.differences.values) {
    json.BeginObject();
    json.Text("name", value.name);
    json.Bool("agrees", value.IsClose());
    json.Text("type", ToString(value.actual));
    json.Text("model_type", ToString(value.expected));
    json.Real("allowed", value.tolerance.absolute);
    if (value.difference.has_value()) {
      const TensorDifference& difference = *value.difference;
      json.Integer("count", difference.count);
      json.Integer("differing", difference.differing);
      json.Real("largest_error", difference.absolute);
      json.Real("mean_error", difference.mean);
      json.Real("largest_ulps", difference.ulps);
      if (difference.differing > 0) {
        json.Integers("at", difference.at);
        json.Text("value", difference.actual);
        json.Text("model_value", difference.expected);
      }
    }
    json.EndObject();
  }
  json.EndArray();
  json.Integer("only_program", check.differences.only_actual);
  json.Integer("only_model", check.differences.only_expected);
  json.EndObject();
}

}  // namespace slipway::cli
