#include "client/cli/render_conditions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/render_parts.h"
#include "client/sample_conditions.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

// "4.2", or "4.2 to 5.1".
std::string Range(int64_t least, int64_t most, double unit, int digits = 1) {
  const std::string low = absl::StrFormat("%.*f", digits, static_cast<double>(least) / unit);
  const std::string high = absl::StrFormat("%.*f", digits, static_cast<double>(most) / unit);
  return low == high ? low : absl::StrCat(low, " to ", high);
}

// Three digits that count.
std::string Joules(double joules) {
  for (const auto& [unit, name] : {std::pair{1.0, "J"}, {1e-3, "mJ"}, {1e-6, "uJ"}}) {
    if (joules >= unit) return absl::StrFormat("%.3g %s", joules / unit, name);
  }
  return absl::StrFormat("%.3g nJ", joules * 1e9);
}

int64_t Calls(const BenchmarkResult& result) {
  if (result.scenario.has_value()) return std::max<int64_t>(1, result.scenario->calls);
  return std::max<int64_t>(
      1, static_cast<int64_t>(result.samples_ns.size()) * result.iterations_per_sample);
}

double JoulesACall(const BenchmarkResult& result, const EnergyCount& count) {
  return static_cast<double>(count.microjoules) * 1e-6 / static_cast<double>(Calls(result));
}

std::string MachineText(const SampleConditions& conditions) {
  std::vector<std::string> parts;
  if (conditions.most_hz > 0) {
    parts.push_back(absl::StrCat(Range(conditions.least_hz, conditions.most_hz, 1e9), " GHz"));
  }
  if (conditions.most_millicelsius > 0) {
    parts.push_back(absl::StrCat(
        Range(conditions.least_millicelsius, conditions.most_millicelsius, 1e3), " C"));
  }
  if (!conditions.governors.empty()) {
    parts.push_back(
        absl::StrCat("governor ", Printable(absl::StrJoin(conditions.governors, ", "))));
  }
  return absl::StrJoin(parts, ", ");
}

// As it was with the samples.
std::string AcceleratorText(const SampleConditions::Accelerator& accelerator) {
  std::vector<std::string> parts = {Printable(accelerator.name)};
  if (accelerator.most_hz > 0) {
    parts.push_back(absl::StrCat(Range(accelerator.least_hz, accelerator.most_hz, 1e6, 0), " MHz"));
  }
  if (accelerator.most_milliwatts > 0) {
    parts.push_back(
        absl::StrCat(Range(accelerator.least_milliwatts, accelerator.most_milliwatts, 1e3), " W"));
  }
  if (accelerator.most_millicelsius > 0) {
    parts.push_back(absl::StrCat(
        Range(accelerator.least_millicelsius, accelerator.most_millicelsius, 1e3, 0), " C"));
  }
  return absl::StrJoin(parts, ", ");
}

// Who it was.
std::string WhatThrottled(const SampleConditions& conditions) {
  if (conditions.throttled_accelerators == 0) return "the processor throttled";
  if (conditions.throttled_accelerators == conditions.throttled) {
    return "an accelerator was slowed down";
  }
  return "the processor throttled or an accelerator was slowed down";
}

}  // namespace

std::vector<std::vector<std::string>> ConditionRows(const BenchmarkResult& result) {
  std::vector<std::vector<std::string>> rows;
  if (result.memory_before_bytes > 0 && result.memory_after_bytes > 0) {
    rows.push_back(
        {"memory", absl::StrCat(FormatBytes(std::max<int64_t>(
                                    0, result.memory_after_bytes - result.memory_before_bytes)),
                                " more than before it was loaded")});
  }
  for (const EnergyCount& count : result.energy) {
    rows.push_back({"energy", absl::StrCat(Joules(JoulesACall(result, count)),
                                           " a call, of all of ", Printable(count.counter))});
  }
  if (!result.energy_unknown.empty()) {
    rows.push_back({"energy", absl::StrCat("unknown: ", Printable(result.energy_unknown))});
  }
  const SampleConditions conditions = ConditionsOf(result);
  if (const std::string machine = MachineText(conditions); !machine.empty()) {
    rows.push_back({"machine", machine});
  }
  if (!conditions.accelerators.empty()) {
    for (const SampleConditions::Accelerator& accelerator : conditions.accelerators) {
      rows.push_back({"accelerator", AcceleratorText(accelerator)});
    }
    return rows;
  }
  // As it was under load: clocks and power of one that has rested say little.
  for (const AcceleratorState& state : result.after.accelerators) {
    rows.push_back({"accelerator", AcceleratorText(state)});
  }
  return rows;
}

std::string ClockRemark(absl::Span<const int64_t> times_ns, int64_t resolution_ns,
                        absl::string_view what) {
  constexpr int64_t kLeastResolutions = 20;
  const auto coarse = std::count_if(times_ns.begin(), times_ns.end(), [&](int64_t ns) {
    return ns / kLeastResolutions < resolution_ns;
  });
  if (coarse == 0 || resolution_ns == 0) return "";
  return absl::StrCat("coarse: ", coarse, " of ", times_ns.size(), " ", what, " shorter than ",
                      kLeastResolutions, " times the ",
                      FormatTime(absl::Nanoseconds(resolution_ns)),
                      " that the device's clock tells apart\n");
}

std::string ConditionRemarks(const BenchmarkResult& result) {
  const SampleConditions conditions = ConditionsOf(result);
  std::string text = ClockRemark(result.samples_ns, result.clock_resolution_ns, "samples are");
  const auto add = [&](int64_t samples, absl::string_view what, absl::string_view why) {
    if (samples == 0) return;
    absl::StrAppend(&text, samples, " of ", conditions.samples, " samples while ", why,
                    "; \"--leave-out ", what, "\" counts the others alone\n");
  };
  add(conditions.disturbed, "disturbed", "other programs took processor time");
  add(conditions.throttled, "throttled", WhatThrottled(conditions));
  return text;
}

void ConditionsJson(JsonWriter& json, const BenchmarkResult& result) {
  json.Integer("clock_resolution_ns", result.clock_resolution_ns);
  json.Integer("memory_before_bytes", result.memory_before_bytes);
  json.Integer("memory_after_bytes", result.memory_after_bytes);
  json.BeginArray("energy");
  for (const EnergyCount& count : result.energy) {
    json.BeginObject();
    json.Text("counter", count.counter);
    json.Integer("microjoules", count.microjoules);
    json.Real("joules_a_call", JoulesACall(result, count));
    json.EndObject();
  }
  json.EndArray();
  json.Text("energy_unknown", result.energy_unknown);
  if (result.settled.has_value()) {
    json.BeginObject("settled");
    json.Integer("cooled_ns", absl::ToInt64Nanoseconds(result.settled->cooled));
    json.Bool("is_cool", result.settled->is_cool);
    json.Integer("steadied_ns", absl::ToInt64Nanoseconds(result.settled->steadied));
    json.Bool("is_steady", result.settled->is_steady);
    json.Integer("temperature_millicelsius", result.settled->temperature_millicelsius);
    json.EndObject();
  }
  const SampleConditions conditions = ConditionsOf(result);
  json.Integer("disturbed_samples", conditions.disturbed);
  json.Integer("throttled_samples", conditions.throttled);
  json.Integer("throttled_accelerator_samples", conditions.throttled_accelerators);
  json.BeginArray("stamps");
  for (const SampleStamp& stamp : result.stamps) {
    json.BeginObject();
    json.Integer("samples", stamp.samples);
    json.Integer("waited_millis", stamp.waited_millis);
    json.Integer("foreign_millis", stamp.foreign_millis);
    json.Bool("disturbed", stamp.disturbed);
    json.Bool("throttled", stamp.throttled);
    json.Integer("cpu_frequency_hz", stamp.cpu_frequency_hz);
    json.Integer("temperature_millicelsius", stamp.temperature_millicelsius);
    json.Text("governor", stamp.governor);
    AcceleratorsJson(json, stamp.accelerators);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace slipway::cli
