#include "core/codegen/rows/row_kernel.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/codegen/ptx_head.h"
#include "core/codegen/rows/normalized_rows.h"
#include "core/codegen/rows/row_text.h"
#include "core/codegen/tensor_cores/tensor_core_kernel.h"

namespace slipway {
namespace {

KernelSchedule ScheduleOf(int warps) { return {{"warp-rows", {{"warps", warps}}}}; }

absl::StatusOr<int> WarpsOf(const ScheduleRecord& record, int64_t size) {
  for (int warps = 1; warps <= kMostRowWarps; ++warps) {
    if (CanShareRow(warps, size) && ScheduleOf(warps) == record.schedule) return warps;
  }
  return absl::InvalidArgumentError(absl::StrCat("its schedule in line ", record.line,
                                                 ": there is no \"", ToString(record.schedule),
                                                 "\" for rows of ", size, " numbers"));
}

}  // namespace

absl::StatusOr<ScheduledKernel> MakeRowKernel(const Graph& body, const OperatorRegistry& registry,
                                              const DeviceTarget& device,
                                              const std::string& function,
                                              const ScheduleRecord* record) {
  SLIPWAY_RETURN_IF_ERROR(CheckTakesTemplates(device));
  SLIPWAY_ASSIGN_OR_RETURN(const NormalizedRows rows, DecodeNormalizedRows(body, registry));
  int warps = ChooseWarpsOfRow(GpuOf(device), rows.rows, rows.size);
  if (record != nullptr) {
    SLIPWAY_ASSIGN_OR_RETURN(warps, WarpsOf(*record, rows.size));
  }
  ScheduledKernel made{RowKernel(rows, body.inputs.size(), warps, absl::StrCat(function, "_0")),
                       ScheduleOf(warps),
                       {}};
  for (int other = 1; other <= kMostRowWarps; ++other) {
    if (other != warps && CanShareRow(other, rows.size)) {
      made.candidates.push_back(ScheduleOf(other));
    }
  }
  made.kernel.preamble = PtxHead(device);
  return made;
}

}  // namespace slipway
