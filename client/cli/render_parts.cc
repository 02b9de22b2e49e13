#include "client/cli/render_parts.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/tensor_summary.h"
#include "client/cli/text_table.h"

namespace slipway::cli {
namespace {

constexpr size_t kShownSteps = 10;

}  // namespace

std::string SlowestSteps(const std::vector<StepTime>& steps) {
  std::vector<StepTime> sorted = steps;
  std::stable_sort(sorted.begin(), sorted.end(), [](const StepTime& a, const StepTime& b) {
    return a.duration_ns > b.duration_ns;
  });
  int64_t total = 0;
  for (const StepTime& step : sorted) total += step.duration_ns;
  TextTable table({"STEP", ">TIME", ">SHARE", "OPERATORS"});
  for (size_t i = 0; i < std::min(sorted.size(), kShownSteps); ++i) {
    const StepTime& step = sorted[i];
    const double share =
        total > 0 ? 100.0 * static_cast<double>(step.duration_ns) / static_cast<double>(total) : 0;
    table.Row({step.name, FormatTime(absl::Nanoseconds(step.duration_ns)),
               absl::StrFormat("%.1f %%", share), absl::StrJoin(step.operators, " ")});
  }
  return absl::StrCat("slowest of ", sorted.size(), " steps, ",
                      FormatTime(absl::Nanoseconds(total)), " together\n", table.Render("  "));
}

void StepsJson(JsonWriter& json, const std::vector<StepTime>& steps) {
  json.BeginArray("steps");
  for (const StepTime& step : steps) {
    json.BeginObject();
    json.Text("name", step.name);
    json.BeginArray("operators");
    for (const std::string& name : step.operators) json.Text("", name);
    json.EndArray();
    json.Integer("ns", step.duration_ns);
    json.EndObject();
  }
  json.EndArray();
}

void MachineJson(JsonWriter& json, absl::string_view name, const MachineState& machine) {
  json.BeginObject(name);
  json.Integer("cpu_frequency_hz", machine.cpu_frequency_hz);
  json.Text("governor", machine.governor);
  json.Integer("temperature_millicelsius", machine.temperature_millicelsius);
  json.Integer("load_millis", machine.load_millis);
  json.EndObject();
}

void TensorJson(JsonWriter& json, const NamedTensor& named, const std::string& file) {
  const Tensor& tensor = named.tensor;
  const TensorStatistics statistics = Statistics(tensor);
  const auto optional = [&json](absl::string_view name, const std::optional<double>& value) {
    value.has_value() ? json.Real(name, *value) : json.Null(name);
  };
  json.Text("name", named.name);
  json.Text("dtype", Name(tensor.dtype()));
  json.Integers("shape", tensor.shape());
  optional("min", statistics.min);
  optional("max", statistics.max);
  optional("mean", statistics.mean);
  statistics.max.has_value() ? json.Integer("largest_at", statistics.largest_at)
                             : json.Null("largest_at");
  json.Integer("nan_count", statistics.nan_count);
  if (!file.empty()) json.Text("file", file);
}

}  // namespace slipway::cli
