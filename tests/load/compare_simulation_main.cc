// How often `slipway compare` is right, on simulated machines under random load; see README.md.
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "core/base/flags.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"
#include "tests/load/comparison_runs.h"

namespace {

using slipway::testing::ComparisonRates;

constexpr double kDifference = 1.03;

double Share(int64_t count, int64_t runs) {
  return static_cast<double>(count) / static_cast<double>(runs);
}

std::string Percent(int64_t count, int64_t runs) {
  return absl::StrFormat("%.2f %%", Share(count, runs) * 100);
}

std::string Table(const ComparisonRates& same, const ComparisonRates& different) {
  slipway::TextTable table({"B", ">RUNS", ">RIGHT", ">CERTAIN", ">TIME"});
  const auto row = [&](const char* name, const ComparisonRates& rates) {
    table.Row({name, absl::StrCat(rates.runs), Percent(rates.right, rates.runs),
               Percent(rates.certain, rates.runs),
               slipway::FormatTime(absl::Seconds(rates.simulated_s))});
  };
  row("is A", same);
  row("differs by 3 %", different);
  return table.Render();
}

std::string Json(const ComparisonRates& same, const ComparisonRates& different) {
  slipway::JsonWriter json;
  json.BeginObject();
  json.Integer("runs", same.runs);
  json.Real("false_alarm_rate", Share(same.runs - same.right, same.runs));
  json.Real("found_rate", Share(different.right, different.runs));
  json.Real("same_certain_rate", Share(same.certain, same.runs));
  json.Real("found_certain_rate", Share(different.certain, different.runs));
  json.Real("same_seconds", same.simulated_s);
  json.Real("found_seconds", different.simulated_s);
  json.EndObject();
  return json.Take();
}

}  // namespace

int main(int argc, char** argv) {
  int64_t runs = 1000;
  int64_t seed = 1;
  bool as_json = false;
  slipway::FlagSet flags("compare_simulation [flags]",
                         "Compares programs on simulated machines under random load: a program "
                         "with itself, and with one that differs by 3 %.");
  flags.Add("runs", &runs, 1, 1'000'000, "N", "Comparisons of each kind.");
  flags.Add("seed", &seed, 0, INT64_MAX, "N", "Of all that is random.");
  flags.Add("json", &as_json, "Print JSON.");
  const auto arguments = flags.Parse(argc, argv);
  if (!arguments.ok() || !arguments->empty()) {
    std::fprintf(stderr, "compare_simulation: %s\n",
                 arguments.ok() ? "there are no arguments"
                                : std::string(arguments.status().message()).c_str());
    return 2;
  }
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  const auto first = static_cast<uint64_t>(seed);
  const ComparisonRates same = slipway::testing::RunComparisons(first, runs, 1);
  const ComparisonRates different = slipway::testing::RunComparisons(first + 1, runs, kDifference);
  std::fputs((as_json ? Json(same, different) : Table(same, different)).c_str(), stdout);
  return Share(same.right, runs) >= 0.99 && Share(different.right, runs) >= 0.95 ? 0 : 1;
}
