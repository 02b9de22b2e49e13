#include "server/peers/protocol.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/digest.h"
#include "core/base/version.h"
#include "server/limits.h"

namespace slipway::server {

absl::Status CheckReportHeader(const ReportHeader& header) {
  if (header.instance_id.empty() || header.instance_id.size() > kMaxInstanceIdBytes) {
    return absl::InvalidArgumentError(absl::StrCat("instance_id has ", header.instance_id.size(),
                                                   " bytes; 1 to ", kMaxInstanceIdBytes,
                                                   " wanted"));
  }
  if (header.version.size() > kMaxVersionBytes ||
      header.applied_version.size() > kMaxVersionBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a version has more than ", kMaxVersionBytes, " bytes"));
  }
  if (header.attempts > kMaxAttemptsReported) {
    return absl::InvalidArgumentError(absl::StrCat("a report holds ", header.attempts,
                                                   " attempts; at most ", kMaxAttemptsReported));
  }
  if (header.park_ns < 0) return absl::InvalidArgumentError("park_ns is negative");
  if (header.max_protocol < kMinProtocol || header.min_protocol > kMaxProtocol) {
    return absl::FailedPreconditionError(
        absl::StrCat("protocol versions ", header.min_protocol, " to ", header.max_protocol,
                     " are spoken there, ", kMinProtocol, " to ", kMaxProtocol,
                     " here: update whichever is older"));
  }
  return absl::OkStatus();
}

absl::Duration ParkTime(int64_t park_ns, uint64_t random) {
  const absl::Duration park = std::min(absl::Nanoseconds(park_ns), kMaxPark);
  return park - park / 10 * (static_cast<double>(random >> 11) / static_cast<double>(1ull << 53));
}

std::string DesiredVersion(std::vector<std::string> attempt_ids, absl::string_view log_level,
                           absl::string_view offer) {
  std::sort(attempt_ids.begin(), attempt_ids.end());
  std::string content = absl::StrJoin(attempt_ids, " ");
  if (!log_level.empty()) absl::StrAppend(&content, "\n", log_level);
  if (!offer.empty()) absl::StrAppend(&content, "\noffer ", offer);
  return Digest::Of(content).hex().substr(0, 32);
}

}  // namespace slipway::server
