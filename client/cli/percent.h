// Shares as people type and read them.
#ifndef SLIPWAY_CLIENT_CLI_PERCENT_H_
#define SLIPWAY_CLIENT_CLI_PERCENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway::cli {

// 0.01 of "1%", which a flag takes: more than 0 and at most `most` percent; else a wrong call.
absl::StatusOr<double> ParsePercent(absl::string_view flag, absl::string_view text, double most);

// "1.2 %" of 0.0123: two digits that count.
std::string FormatPercent(double share);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_PERCENT_H_
