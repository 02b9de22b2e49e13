// The file that schedules are kept in which tuning has found: records as "--schedules" takes them, each with what was measured of it.
#ifndef SLIPWAY_CLIENT_TUNING_TUNED_RECORDS_H_
#define SLIPWAY_CLIENT_TUNING_TUNED_RECORDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/tuning/schedule_search.h"
#include "client/tuning/tuning.h"

namespace slipway {

// What a file has. INVALID_ARGUMENT as of ParseScheduleRecords.
absl::StatusOr<KernelSchedules> ReadTunedRecords(absl::string_view text);

// `text`, a file that ReadTunedRecords takes, with the records of these kernels: one for each whose schedule is not the compiler's, none for the others. Lines
// of other kernels, and comments on lines of their own, stay as they are. Records end in a comment such as
// "# ConvNCHWc+Relu conv1 and 2 more: 812 us, 901 us by the compiler's choice, on board-1, 2026-11-29".
std::string WithTunedRecords(absl::string_view text, const std::vector<TunedKernel>& kernels,
                             absl::string_view device, absl::Time now);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_TUNING_TUNED_RECORDS_H_
