// Patterns of names.
#ifndef SLIPWAY_CORE_BASE_WILDCARD_H_
#define SLIPWAY_CORE_BASE_WILDCARD_H_

#include "absl/strings/string_view.h"

namespace slipway {

// Whether all of `name` is what the pattern says, in which "*" stands for any characters and all others for themselves.
bool MatchesPattern(absl::string_view pattern, absl::string_view name);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_WILDCARD_H_
