// Why a job waits, in words.
#ifndef SLIPWAY_CLIENT_CLI_WAIT_TEXT_H_
#define SLIPWAY_CLIENT_CLI_WAIT_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "client/types.h"

namespace slipway::cli {

// "a benchmark of ada: purpose".
std::string HolderText(const DeviceLease& lease);
// "reserved for ada until 2026-11-24 15:00:00 UTC"; one that has not begun, "... from ... to ...".
std::string ReservedText(const Reservation& reservation, absl::Time now);
// "waits for board-1: held by a benchmark of ada until 2026-11-24 14:05:00 UTC at the latest, 2 before it". `ahead` as in
// Job.
std::string WaitText(const WaitReason& reason, int64_t ahead, absl::Time now);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_WAIT_TEXT_H_
