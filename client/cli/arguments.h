// What every verb does with its arguments first.
#ifndef SLIPWAY_CLIENT_CLI_ARGUMENTS_H_
#define SLIPWAY_CLIENT_CLI_ARGUMENTS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/environment.h"
#include "client/cli/verbs.h"
#include "core/base/flags.h"

namespace slipway::cli {

// Sets the flags. Returns the other arguments, of which there must be one for each of `names`, but for the last `optional` of them, or
// nothing when --help or --print-config asked for a text, which is printed. A wrong call otherwise.
absl::StatusOr<std::optional<std::vector<std::string>>> ParseArguments(
    Environment& environment, FlagSet& flags, Arguments arguments,
    const std::vector<std::string>& names, size_t optional = 0);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_ARGUMENTS_H_
