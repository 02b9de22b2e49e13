// How often `slipway gate` is right, on simulated histories; see README.md.
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "core/base/flags.h"
#include "core/base/json_writer.h"
#include "core/base/text_table.h"
#include "tests/load/gate_runs.h"

namespace {

using slipway::testing::DeviceKind;
using slipway::testing::GateCounts;
using slipway::testing::VerdictCounts;

constexpr double kRegression = 1.03;
constexpr double kMostFalseAlarms = 0.01;
constexpr double kLeastFound = 0.95;

// On one kind of device, or on all.
struct Outcome {
  std::string device;
  GateCounts unchanged;
  GateCounts regressed;
};

double Share(int64_t count, int64_t of) {
  return of == 0 ? 0 : static_cast<double>(count) / static_cast<double>(of);
}

double FalseAlarms(const Outcome& outcome, const VerdictCounts& unchanged) {
  return Share(unchanged.regressed, outcome.unchanged.histories);
}

double Found(const Outcome& outcome, const VerdictCounts& regressed) {
  return Share(regressed.regressed, outcome.regressed.histories);
}

double Undecided(const Outcome& outcome, const VerdictCounts& unchanged,
                 const VerdictCounts& regressed) {
  return Share(unchanged.undecided + regressed.undecided,
               outcome.unchanged.histories + outcome.regressed.histories);
}

int64_t InTurns(const Outcome& outcome) {
  return outcome.unchanged.in_turns + outcome.regressed.in_turns;
}

double InTurnsShare(const Outcome& outcome) {
  return Share(InTurns(outcome), outcome.unchanged.histories + outcome.regressed.histories);
}

double TurnsSeconds(const Outcome& outcome) {
  const int64_t count = InTurns(outcome);
  const double seconds = outcome.unchanged.turns_s + outcome.regressed.turns_s;
  return count == 0 ? 0 : seconds / static_cast<double>(count);
}

std::string Percent(double share) { return absl::StrFormat("%.2f %%", share * 100); }

std::string Table(const std::vector<Outcome>& outcomes) {
  slipway::TextTable table(
      {"DEVICES", "RULE", ">FALSE ALARMS", ">FOUND", ">UNDECIDED", ">IN TURNS", ">FOR"});
  for (const Outcome& outcome : outcomes) {
    const auto row = [&](const char* rule, const VerdictCounts& unchanged,
                         const VerdictCounts& regressed, bool takes_turns) {
      table.Row({outcome.device, rule, Percent(FalseAlarms(outcome, unchanged)),
                 Percent(Found(outcome, regressed)),
                 Percent(Undecided(outcome, unchanged, regressed)),
                 takes_turns ? Percent(InTurnsShare(outcome)) : "-",
                 takes_turns ? slipway::FormatTime(absl::Seconds(TurnsSeconds(outcome))) : "-"});
    };
    row("gate", outcome.unchanged.gate, outcome.regressed.gate, true);
    row("history alone", outcome.unchanged.history, outcome.regressed.history, false);
    row("newest result", outcome.unchanged.naive, outcome.regressed.naive, false);
  }
  return table.Render();
}

void Rates(slipway::JsonWriter& json, const Outcome& outcome) {
  const auto rates = [&](absl::string_view prefix, const VerdictCounts& unchanged,
                         const VerdictCounts& regressed) {
    json.Real(absl::StrCat(prefix, "false_alarm_rate"), FalseAlarms(outcome, unchanged));
    json.Real(absl::StrCat(prefix, "found_rate"), Found(outcome, regressed));
    json.Real(absl::StrCat(prefix, "undecided_rate"), Undecided(outcome, unchanged, regressed));
  };
  json.Integer("histories", outcome.unchanged.histories);
  rates("", outcome.unchanged.gate, outcome.regressed.gate);
  json.Real("in_turns_rate", InTurnsShare(outcome));
  json.Real("in_turns_seconds", TurnsSeconds(outcome));
  rates("history_", outcome.unchanged.history, outcome.regressed.history);
  rates("naive_", outcome.unchanged.naive, outcome.regressed.naive);
}

// The last of `outcomes` is of all devices.
std::string Json(const std::vector<Outcome>& outcomes, int64_t seed) {
  slipway::JsonWriter json;
  json.BeginObject();
  json.Integer("seed", seed);
  Rates(json, outcomes.back());
  json.BeginArray("devices");
  for (size_t i = 0; i + 1 < outcomes.size(); ++i) {
    json.BeginObject();
    json.Text("device", outcomes[i].device);
    Rates(json, outcomes[i]);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace

int main(int argc, char** argv) {
  int64_t histories = 600;
  int64_t seed = 1;
  bool as_json = false;
  slipway::FlagSet flags("gate_simulation [flags]",
                         "Gates a candidate on simulated devices with weeks of results: one that "
                         "is as fast as its baseline, and\none that takes 3 % longer. Exit code "
                         "1: more than 1 % false alarms, or less than 95 % found.");
  flags.Add("histories", &histories, 3, 1'000'000, "N",
            "Of each of the two, on quiet, ordinary and restless devices in equal parts.");
  flags.Add("seed", &seed, 0, INT64_MAX, "N", "Of all that is random.");
  flags.Add("json", &as_json, "Print JSON.");
  const auto arguments = flags.Parse(argc, argv);
  if (!arguments.ok() || !arguments->empty()) {
    std::fprintf(stderr, "gate_simulation: %s\n",
                 arguments.ok() ? "there are no arguments"
                                : std::string(arguments.status().message()).c_str());
    return 2;
  }
  if (const std::string text = flags.TextAskedFor(); !text.empty()) {
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  std::vector<Outcome> outcomes;
  Outcome all{.device = "all", .unchanged = {}, .regressed = {}};
  auto kind_seed = static_cast<uint64_t>(seed) * 1000;
  constexpr auto kKinds = static_cast<int64_t>(std::size(slipway::testing::kDeviceKinds));
  for (const DeviceKind& kind : slipway::testing::kDeviceKinds) {
    const int64_t of_kind = (histories + kKinds - 1) / kKinds;
    outcomes.push_back({.device = kind.name,
                        .unchanged = RunGates(kind_seed++, of_kind, kind, 1),
                        .regressed = RunGates(kind_seed++, of_kind, kind, kRegression)});
    all.unchanged += outcomes.back().unchanged;
    all.regressed += outcomes.back().regressed;
  }
  outcomes.push_back(all);
  std::fputs((as_json ? Json(outcomes, seed) : Table(outcomes)).c_str(), stdout);
  return FalseAlarms(all, all.unchanged.gate) <= kMostFalseAlarms &&
                 Found(all, all.regressed.gate) >= kLeastFound
             ? 0
             : 1;
}
