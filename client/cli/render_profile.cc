#include "client/cli/render_profile.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/roofline.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

constexpr size_t kShownSteps = 10;

std::string Percent(double part, double whole) {
  return whole > 0 ? absl::StrFormat("%.1f %%", 100 * part / whole) : "-";
}

// Three digits: "231 M".
std::string FormatCount(int64_t count) {
  static constexpr const char* kUnits[] = {"", " k", " M", " G", " T"};
  auto value = static_cast<double>(count);
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  const int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return absl::StrFormat("%.*f%s", digits, value, kUnits[unit]);
}

Roofline LimitsOf(const StepProfile& profile) {
  return FindLimits(profile.steps, profile.peaks, profile.threads, profile.accelerators);
}

// "all steps: 5.80 ms, limit 4.10 ms on 1 thread (70.7 % reached; limited by f32 62.0 %, memory 38.0 %)".
std::string Total(const Roofline& roofline, const StepProfile& profile) {
  std::map<std::string, double> ns_by_limit;
  size_t known = 0;
  for (const std::optional<StepLimit>& step : roofline.steps) {
    if (!step.has_value()) continue;
    ++known;
    ns_by_limit[step->what] += step->ns;
  }
  std::vector<std::pair<double, std::string>> largest;
  for (const auto& [what, ns] : ns_by_limit) largest.emplace_back(ns, what);
  std::sort(largest.rbegin(), largest.rend());
  const auto share = [&](std::string* out, const std::pair<double, std::string>& limit) {
    absl::StrAppend(out, limit.second, " ", Percent(limit.first, roofline.limit_ns));
  };
  const std::string steps = known == roofline.steps.size()
                                ? "all steps"
                                : absl::StrCat("the ", known, " steps that are known");
  return absl::StrCat(steps, ": ", FormatTime(absl::Nanoseconds(roofline.measured_ns)), ", limit ",
                      FormatTime(absl::Nanoseconds(roofline.limit_ns)), " on ", profile.threads,
                      profile.threads == 1 ? " thread" : " threads",
                      profile.accelerators.empty() ? " (" : " and accelerators (",
                      Percent(roofline.limit_ns, roofline.measured_ns), " reached; limited by ",
                      absl::StrJoin(largest, ", ", share), ")\n");
}

}  // namespace

const char kProfileHelp[] =
    "FLOPS are the multiplications and additions of a step's products, as the model has them, "
    "BYTES "
    "its inputs and constants read once and its outputs written once. LIMIT is what it cannot pass "
    "on this device: the rate of operations of their type, or of the level of the memory that its "
    "bytes come "
    "from; of a GPU's step it is the GPU's, and of a copy there or back that of copies. REACHED is "
    "how much of that limit's speed it has. Convolutions by transformed tiles (Winograd) and "
    "products by seven of their halves (Strassen) multiply less than the model has it and may "
    "reach more than 100 %.";

std::vector<std::vector<std::string>> ProfileRows(const StepProfile& profile) {
  const Roofline roofline = LimitsOf(profile);
  int64_t total = 0;
  for (const StepTime& step : profile.steps) total += step.duration_ns;
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < profile.steps.size(); ++i) {
    const StepTime& step = profile.steps[i];
    const std::optional<StepLimit>& limit = roofline.steps[i];
    const auto ns = static_cast<double>(step.duration_ns);
    // What a library made is told beside the operators.
    std::vector<std::string> made = step.operators;
    if (!step.library.empty()) made.push_back(absl::StrCat("by ", step.library));
    rows.push_back({step.name, FormatTime(absl::Nanoseconds(step.duration_ns)),
                    Percent(ns, static_cast<double>(total)),
                    step.work.has_value() ? FormatCount(step.work->flops) : "-",
                    step.work.has_value() ? FormatBytes(step.work->bytes) : "-",
                    limit.has_value() ? Percent(limit->ns, ns) : "-",
                    limit.has_value() ? limit->what : "-", absl::StrJoin(made, " ")});
  }
  return rows;
}

std::string ProfileTotal(const StepProfile& profile) {
  if (profile.peaks.empty()) {
    return "no limits: the agent does not tell, or not yet, what its device does at most\n";
  }
  const Roofline roofline = LimitsOf(profile);
  return roofline.limit_ns > 0 ? Total(roofline, profile) : "";
}

std::string RenderProfile(const StepProfile& profile) {
  const std::vector<StepTime>& steps = profile.steps;
  std::vector<size_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return steps[a].duration_ns > steps[b].duration_ns; });
  int64_t total = 0;
  for (const StepTime& step : steps) total += step.duration_ns;
  TextTable table({std::begin(kProfileColumns), std::end(kProfileColumns)});
  std::vector<std::vector<std::string>> rows = ProfileRows(profile);
  for (size_t i = 0; i < std::min(order.size(), kShownSteps); ++i) {
    table.Row(std::move(rows[order[i]]));
  }
  return absl::StrCat("slowest of ", steps.size(), " steps, ", FormatTime(absl::Nanoseconds(total)),
                      " together\n", table.Render("  "), ProfileTotal(profile));
}

namespace {

void ThreadsJson(JsonWriter& json, const std::vector<ThreadWork>& threads) {
  json.BeginArray("threads");
  for (const ThreadWork& thread : threads) {
    json.BeginObject();
    json.Integer("begin_ns", thread.begin_ns);
    json.Integer("end_ns", thread.end_ns);
    json.Integer("busy_ns", thread.busy_ns);
    json.Integer("tasks", thread.tasks);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

void ProfileJson(JsonWriter& json, const StepProfile& profile) {
  const Roofline roofline = LimitsOf(profile);
  json.BeginArray("steps");
  for (size_t i = 0; i < profile.steps.size(); ++i) {
    const StepTime& step = profile.steps[i];
    json.BeginObject();
    json.Text("name", step.name);
    json.BeginArray("operators");
    for (const std::string& name : step.operators) json.Text("", name);
    json.EndArray();
    json.Integer("ns", step.duration_ns);
    if (step.device > 0) json.Integer("device", step.device);
    if (!step.library.empty()) json.Text("library", step.library);
    if (step.work.has_value()) {
      json.Integer("flops", step.work->flops);
      json.Integer("bytes", step.work->bytes);
      json.Integer("constant_bytes", step.work->constant_bytes);
    }
    if (roofline.steps[i].has_value()) {
      json.Real("limit_ns", roofline.steps[i]->ns);
      json.Text("limit", roofline.steps[i]->what);
    }
    if (!step.threads.empty()) ThreadsJson(json, step.threads);
    json.EndObject();
  }
  json.EndArray();
  if (roofline.limit_ns > 0) json.Real("limit_ns", roofline.limit_ns);
}

}  // namespace slipway::cli
