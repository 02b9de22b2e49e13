// Whatever records are read, written they are read as the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/schedules/kernel_schedule.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<slipway::ScheduleRecords> records = slipway::ParseScheduleRecords(text);
  if (!records.ok()) return 0;
  std::string written;
  for (const auto& [kernel, record] : *records) {
    absl::StrAppend(&written, kernel, " ", slipway::ToString(record.schedule), "\n");
  }
  const absl::StatusOr<slipway::ScheduleRecords> again = slipway::ParseScheduleRecords(written);
  SLIPWAY_CHECK(again.ok(), again.status().message());
  SLIPWAY_CHECK(again->size() == records->size(), written);
  for (const auto& [kernel, record] : *records) {
    SLIPWAY_CHECK(again->at(kernel).schedule == record.schedule, written);
  }
  return 0;
}
