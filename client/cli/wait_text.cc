#include "client/cli/wait_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/text_table.h"

namespace slipway::cli {
namespace {

// Why, and where it says for which device.
std::string Why(const WaitReason& reason, absl::Time now) {
  const std::string device = Printable(reason.device);
  const std::string detail =
      reason.detail.empty() ? "" : absl::StrCat(": ", Printable(reason.detail));
  switch (reason.kind) {
    case WaitKind::kUnknown:
      return "waits";
    case WaitKind::kNext:
      return device.empty() ? "waits for its turn" : absl::StrCat("waits for its turn on ", device);
    case WaitKind::kPauses:
      return absl::StrCat("pauses for ",
                          FormatTime(std::max(reason.until - now, absl::ZeroDuration())),
                          " after an attempt that was lost");
    case WaitKind::kHeld:
      if (!reason.lease.has_value()) {
        return absl::StrCat("waits for ", device,
                            ", whose agent ends what it was told to stop, or is updated");
      }
      return absl::StrCat("waits for ", device, ": held by ", HolderText(*reason.lease), " until ",
                          FormatWallTime(reason.until), " at the latest");
    case WaitKind::kReserved:
      if (!reason.reservation.has_value()) return absl::StrCat("waits for ", device, ": reserved");
      return absl::StrCat("waits for ", device, ": ", ReservedText(*reason.reservation, now));
    case WaitKind::kTooLong:
      if (!reason.reservation.has_value()) return absl::StrCat("waits for ", device, ": reserved");
      return absl::StrCat("waits for ", device, ": ", ReservedText(*reason.reservation, now),
                          ", and its deadline is later than that");
    case WaitKind::kQuarantined:
      return absl::StrCat("waits for ", device, ", which is in quarantine", detail);
    case WaitKind::kDrained:
      return absl::StrCat("waits for ", device, ", which is drained", detail);
    case WaitKind::kLost:
      return absl::StrCat("waits for ", device, ", of which nothing was heard since ",
                          FormatWallTime(reason.since));
    case WaitKind::kNoDevice:
      return absl::StrCat("no device is there that can run it", detail);
    case WaitKind::kWorkersBusy:
      return "waits for a worker: those that could compile it are at work";
    case WaitKind::kNoWorker:
      return "no worker is there that could compile it";
  }
  return "waits";
}

}  // namespace

std::string HolderText(const DeviceLease& lease) {
  return absl::StrCat("a ", lease.kind.has_value() ? Name(*lease.kind) : "job", " of ",
                      Printable(lease.owner), lease.purpose.empty() ? "" : ": ",
                      Printable(lease.purpose));
}

std::string ReservedText(const Reservation& reservation, absl::Time now) {
  const std::string until = FormatWallTime(reservation.until);
  return absl::StrCat(
      "reserved for ", Printable(reservation.owner),
      reservation.from <= now
          ? absl::StrCat(" until ", until)
          : absl::StrCat(" from ", FormatWallTime(reservation.from), " to ", until));
}

std::string WaitText(const WaitReason& reason, int64_t ahead, absl::Time now) {
  return absl::StrCat(Why(reason, now),
                      ahead > 0 ? absl::StrCat(", ", ahead, " before it") : std::string());
}

}  // namespace slipway::cli
