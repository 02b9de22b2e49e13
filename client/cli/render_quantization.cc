#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/render.h"
#include "client/cli/render_parts.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

// Of the products that stay f32; JSON has all.
constexpr size_t kShownProducts = 20;

std::string Number(double value) { return absl::StrFormat("%.3g", value); }
std::string Percent(double share) { return absl::StrFormat("%.2f %%", share * 100); }

double Speedup(const QuantizationReport& report) {
  return absl::FDivDuration(report.float_time, report.integer_time);
}

std::vector<std::string> RowOf(const OutputAccuracy& output) {
  const std::string agreement = output.agreement.has_value() ? Percent(*output.agreement) : "";
  if (!output.errors.has_value()) return {output.name, "", "", "", "", agreement};
  const OutputAccuracy::Errors& errors = *output.errors;
  return {output.name,
          Number(errors.absolute),
          Percent(errors.relative),
          errors.decibels.has_value() ? absl::StrFormat("%.1f dB", *errors.decibels) : "equal",
          absl::StrFormat("%.5f", errors.cosine),
          agreement};
}

std::string Products(const std::vector<FloatProduct>& products) {
  if (products.empty()) return "";
  TextTable table({"STAYS F32", "BECAUSE"});
  for (size_t i = 0; i < products.size() && i < kShownProducts; ++i) {
    table.Row({Printable(products[i].node), Printable(products[i].reason)});
  }
  std::string text = absl::StrCat("\n", table.Render());
  if (products.size() > kShownProducts) {
    absl::StrAppend(&text, "... and ", products.size() - kShownProducts, " more\n");
  }
  return text;
}

}  // namespace

std::string RenderQuantization(const QuantizationReport& report) {
  const Compilation& integers = report.integers;
  TextTable facts({"", ""});
  facts.Row({"model", Printable(report.model)});
  facts.Row({"examples", absl::StrCat(report.examples)});
  facts.Row({"products", ProductsText(integers)});
  facts.Row({"artifact", absl::StrCat(FormatBytes(integers.artifact_bytes), ", f32 ",
                                      FormatBytes(report.floats.artifact_bytes))});
  facts.Row({"shortest call",
             absl::StrCat(FormatTime(report.integer_time), ", f32 ", FormatTime(report.float_time),
                          ": ", absl::StrFormat("%.2f", Speedup(report)), " times as fast")});
  facts.Row({"measured on", absl::StrCat(Printable(report.device), ", ", report.threads,
                                         report.threads == 1 ? " thread" : " threads")});
  TextTable outputs(
      {"OUTPUT", ">ERROR", ">OF LARGEST", ">SIGNAL/NOISE", ">COSINE", ">AGREES WITH F32"});
  for (const OutputAccuracy& output : report.outputs) outputs.Row(RowOf(output));
  return absl::StrCat(facts.Render("", false), "\n", outputs.Render(),
                      Products(integers.float_products),
                      report.file.empty() ? "" : absl::StrCat("\nwrote ", report.file, "\n"));
}

std::string RenderQuantizationJson(const QuantizationReport& report) {
  JsonWriter json;
  json.BeginObject();
  json.Integer("schema_version", 1);
  json.Text("model", report.model);
  json.Text("device", report.device);
  json.Integer("threads", report.threads);
  json.Integer("examples", report.examples);
  json.Text("artifact_digest", report.integers.artifact.hex());
  json.Integer("artifact_bytes", report.integers.artifact_bytes);
  json.Integer("f32_artifact_bytes", report.floats.artifact_bytes);
  json.Integer("min_ns", absl::ToInt64Nanoseconds(report.integer_time));
  json.Integer("f32_min_ns", absl::ToInt64Nanoseconds(report.float_time));
  json.Real("speedup", Speedup(report));
  ProductsJson(json, report.integers);
  json.BeginArray("outputs");
  for (const OutputAccuracy& output : report.outputs) {
    json.BeginObject();
    json.Text("name", output.name);
    json.Integer("elements", output.elements);
    if (output.errors.has_value()) {
      json.Real("largest_absolute", output.errors->absolute);
      json.Real("largest_relative", output.errors->relative);
      output.errors->decibels.has_value()
          ? json.Real("signal_to_noise_db", *output.errors->decibels)
          : json.Null("signal_to_noise_db");
      json.Real("cosine", output.errors->cosine);
    }
    if (output.agreement.has_value()) json.Real("agreement", *output.agreement);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace slipway::cli
