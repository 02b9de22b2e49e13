// Times as flags take them.
#ifndef SLIPWAY_CLIENT_CLI_TIME_FLAG_H_
#define SLIPWAY_CLIENT_CLI_TIME_FLAG_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace slipway::cli {

inline constexpr char kTimeHelp[] =
    "When it begins: now, +30m, 15:00 (today, or tomorrow), \"2026-11-24 15:00\" or "
    "2026-11-24T15:00:00+01:00; UTC unless it says otherwise, as all times.";

// A wrong call names the flag and says what it takes. Pure.
absl::StatusOr<absl::Time> ParseTime(absl::string_view flag, const std::string& text,
                                     absl::Time now);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_TIME_FLAG_H_
