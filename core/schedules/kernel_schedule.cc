#include "core/schedules/kernel_schedule.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

constexpr size_t kKernelNameBytes = 16;

// What a text holds, for a message: not all of it, and nothing that moves a cursor.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text.substr(0, 40)),
                      text.size() > 40 ? "...\"" : "\"");
}

bool IsWord(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxScheduleNameBytes &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_islower(c) || c == '-'; });
}

bool IsKernelName(absl::string_view text) {
  return text.size() == kKernelNameBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
         });
}

absl::StatusOr<std::pair<std::string, int>> ParseNumber(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  int value = 0;
  if (!IsWord(parts.first) || !absl::SimpleAtoi(parts.second, &value)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(text), " is not NAME=NUMBER, such as \"width=6\""));
  }
  return std::make_pair(std::string(parts.first), value);
}

absl::StatusOr<StageSchedule> ParseStage(absl::string_view text) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  if (words.empty() || !IsWord(words[0])) {
    return absl::InvalidArgumentError(absl::StrCat(Quoted(absl::StripAsciiWhitespace(text)),
                                                   " does not begin with a kind of loops"));
  }
  if (words.size() > 1 + kMaxNumbersOfStage) {
    return absl::InvalidArgumentError(absl::StrCat(
        words.size() - 1, " numbers of a stage; at most ", kMaxNumbersOfStage, " are read"));
  }
  StageSchedule stage{.kind = std::string(words[0])};
  for (size_t i = 1; i < words.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(auto number, ParseNumber(words[i]));
    for (const auto& [name, value] : stage.numbers) {
      if (name != number.first) continue;
      return absl::InvalidArgumentError(absl::StrCat("\"", name, "\" is given twice"));
    }
    stage.numbers.push_back(std::move(number));
  }
  return stage;
}

absl::StatusOr<std::pair<std::string, KernelSchedule>> ParseLine(absl::string_view line) {
  const size_t end = std::min(line.find_first_of(" \t"), line.size());
  const absl::string_view name = line.substr(0, end);
  if (!IsKernelName(name)) {
    return absl::InvalidArgumentError(absl::StrCat(Quoted(name), " is no kernel's name, which has ",
                                                   kKernelNameBytes, " of 0-9 and a-f"));
  }
  const std::vector<absl::string_view> texts = absl::StrSplit(line.substr(end), ';');
  if (texts.size() > kMaxStagesOfKernel) {
    return absl::InvalidArgumentError(absl::StrCat(texts.size(), " stages of a kernel; at most ",
                                                   kMaxStagesOfKernel, " are read"));
  }
  KernelSchedule schedule;
  for (const absl::string_view text : texts) {
    SLIPWAY_ASSIGN_OR_RETURN(schedule.emplace_back(), ParseStage(text));
  }
  return std::make_pair(std::string(name), std::move(schedule));
}

}  // namespace

std::string ToString(const KernelSchedule& schedule) {
  return absl::StrJoin(schedule, "; ", [](std::string* out, const StageSchedule& stage) {
    absl::StrAppend(out, stage.kind);
    for (const auto& [name, value] : stage.numbers) absl::StrAppend(out, " ", name, "=", value);
  });
}

absl::StatusOr<ScheduleRecords> ParseScheduleRecords(absl::string_view text) {
  if (static_cast<int64_t>(text.size()) > kMaxSchedulesBytes) {
    return absl::InvalidArgumentError(absl::StrCat("schedules: ", text.size(), " bytes; at most ",
                                                   kMaxSchedulesBytes, " are read"));
  }
  ScheduleRecords records;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    SLIPWAY_ASSIGN_OR_RETURN_WITH(auto parsed, ParseLine(line),
                                  absl::StrCat("schedules, line ", number));
    const auto [entry, is_new] =
        records.try_emplace(parsed.first, ScheduleRecord{std::move(parsed.second), number});
    if (is_new) continue;
    return absl::InvalidArgumentError(absl::StrCat("schedules, line ", number, ": kernel ",
                                                   parsed.first, " stands in line ",
                                                   entry->second.line, " already"));
  }
  return records;
}

}  // namespace slipway
