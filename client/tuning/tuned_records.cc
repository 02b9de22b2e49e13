#include "client/tuning/tuned_records.h"

#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/base/text_table.h"
#include "core/schedules/kernel_schedule.h"

namespace slipway {
namespace {

constexpr char kHead[] =
    "# Schedules that were found by measuring, for \"--schedules\"; \"--tune-on\" goes on with "
    "them.\n";

// The kernel that a line has a record of, or nothing.
absl::string_view KernelOf(absl::string_view line) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(line.substr(0, line.find('#')), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  return words.empty() ? absl::string_view() : words.front();
}

std::string RecordOf(const TunedKernel& kernel, absl::string_view device, absl::Time now) {
  constexpr size_t kMaxStepBytes = 160;
  std::string step = absl::Utf8SafeCEscape(kernel.step);
  if (step.size() > kMaxStepBytes) step.resize(kMaxStepBytes);
  if (kernel.steps > 1) absl::StrAppend(&step, " and ", kernel.steps - 1, " more");
  return absl::StrCat(kernel.kernel, " ", kernel.schedule, "  # ", step, ": ",
                      FormatTime(absl::Nanoseconds(kernel.ns)), ", ",
                      FormatTime(absl::Nanoseconds(kernel.default_ns)),
                      " by the compiler's choice, on ", absl::Utf8SafeCEscape(device), ", ",
                      absl::FormatTime("%Y-%m-%d", now, absl::UTCTimeZone()), "\n");
}

}  // namespace

absl::StatusOr<KernelSchedules> ReadTunedRecords(absl::string_view text) {
  SLIPWAY_ASSIGN_OR_RETURN(const ScheduleRecords records, ParseScheduleRecords(text));
  KernelSchedules schedules;
  for (const auto& [kernel, record] : records) schedules[kernel] = ToString(record.schedule);
  return schedules;
}

std::string WithTunedRecords(absl::string_view text, const std::vector<TunedKernel>& kernels,
                             absl::string_view device, absl::Time now) {
  std::set<absl::string_view> tuned;
  for (const TunedKernel& kernel : kernels) tuned.insert(kernel.kernel);
  std::string written;
  if (text.empty()) written = kHead;
  absl::ConsumeSuffix(&text, "\n");
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (text.empty() || tuned.count(KernelOf(line)) > 0) continue;
    absl::StrAppend(&written, line, "\n");
  }
  for (const TunedKernel& kernel : kernels) {
    if (kernel.schedule == kernel.default_schedule) continue;
    absl::StrAppend(&written, RecordOf(kernel, device, now));
  }
  return written;
}

}  // namespace slipway
