#include "client/cli/condition_flags.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "client/cli/exit_code.h"
#include "client/sample_conditions.h"
#include "core/base/status_macros.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

constexpr double kHottest = 200;
constexpr absl::Duration kLongest = absl::Hours(1);

// Thousandths of a degree of "60C".
absl::StatusOr<int64_t> ParseTemperature(absl::string_view text) {
  absl::string_view number = text;
  double degrees = 0;
  // Written so that what is no number is refused, too.
  if (absl::ConsumeSuffix(&number, "C") && absl::SimpleAtod(number, &degrees) && degrees > 0 &&
      degrees <= kHottest) {
    return std::max<int64_t>(1, std::llround(degrees * 1000));
  }
  return WrongCall(absl::StrCat("flag \"--cool-down\" takes degrees Celsius such as 60C, at most ",
                                kHottest, "C, not \"", text, "\""));
}

bool Has(const std::vector<std::string>& words, absl::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string Degrees(int64_t millicelsius) {
  return absl::StrFormat("%.1f C", static_cast<double>(millicelsius) / 1000);
}

}  // namespace

void ConditionFlags::AddTo(FlagSet& flags) {
  flags.Add("cool-down", &cool_down, "TEMPERATURE",
            "Begin when no thermal zone, and no GPU that the program will use, is hotter than "
            "this, such as 60C; not waited for by default.");
  flags.Add("settle", &settle,
            "Call until frequencies (within 2 %) and temperatures (within 1 C), of the processor "
            "and of GPUs that the program uses, have held still for 2 s, and only then take "
            "samples.");
  flags.Add("settle-limit", &settle_limit, "TIME",
            "Wait at most so long for each of \"--cool-down\" and \"--settle\".");
  flags.Add("leave-out", &leave_out, "disturbed|throttled",
            "Count no samples that were taken while other programs took 5 % of a processor, or "
            "while it throttled for heat or an accelerator was slowed down; repeatable.");
}

absl::Status ConditionFlags::Check(const std::optional<Scenario>& scenario) const {
  if (!cool_down.empty()) SLIPWAY_RETURN_IF_ERROR(ParseTemperature(cool_down).status());
  if (settle_limit <= absl::ZeroDuration() || settle_limit > kLongest) {
    return WrongCall("flag \"--settle-limit\" takes a time above 0, at most 1h");
  }
  for (const std::string& what : leave_out) {
    if (what == "disturbed" || what == "throttled") continue;
    return WrongCall(
        absl::StrCat("flag \"--leave-out\" takes disturbed or throttled, not \"", what, "\""));
  }
  if (!leave_out.empty() && scenario.has_value() &&
      (scenario->kind == ScenarioKind::kOffline || scenario->kind == ScenarioKind::kServer)) {
    return WrongCall(
        "\"--leave-out\" is for calls that follow each other: single-stream, multi-stream");
  }
  return absl::OkStatus();
}

std::optional<Settling> ConditionFlags::ReadSettling() const {
  if (cool_down.empty() && !settle) return std::nullopt;
  return Settling{
      .cool_down_millicelsius = cool_down.empty() ? 0 : ParseTemperature(cool_down).value_or(0),
      .until_steady = settle,
      .longest = settle_limit};
}

absl::StatusOr<BenchmarkResult> ConditionFlags::Apply(const BenchmarkResult& result) const {
  if (leave_out.empty()) return result;
  return LeaveOut(result, Has(leave_out, "disturbed"), Has(leave_out, "throttled"));
}

std::string AboutSettling(const std::optional<Settling>& asked, const BenchmarkResult& result) {
  if (!asked.has_value()) return "";
  if (!result.settled.has_value()) {
    return "the device's agent knows no \"--cool-down\" and \"--settle\" yet, and has waited for "
           "neither\n";
  }
  const Settled& settled = *result.settled;
  std::string text;
  if (asked->cool_down_millicelsius > 0 && !settled.is_cool) {
    absl::StrAppend(&text,
                    settled.cooled == absl::ZeroDuration()
                        ? "the device tells no temperature: it was not waited for to cool down\n"
                        : absl::StrCat("after ", FormatTime(settled.cooled),
                                       " the device was still hotter than ",
                                       Degrees(asked->cool_down_millicelsius), "\n"));
  }
  if (asked->until_steady && !settled.is_steady) {
    absl::StrAppend(&text,
                    settled.steadied == absl::ZeroDuration()
                        ? "the device tells neither frequency nor temperature: it was not waited "
                          "for to hold still\n"
                        : absl::StrCat("after ", FormatTime(settled.steadied),
                                       " frequency and temperature still did not hold still\n"));
  }
  return text;
}

}  // namespace slipway::cli
