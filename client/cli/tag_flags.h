// How verbs take tags.
#ifndef SLIPWAY_CLIENT_CLI_TAG_FLAGS_H_
#define SLIPWAY_CLIENT_CLI_TAG_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/tag.h"

namespace slipway::cli {

// What "--tag" says where jobs are made.
inline constexpr char kTagHelp[] =
    "Keep the job by this word and value, such as commit=1f0c9ad, to be found again. Repeatable.";

// Of what "--tag" was given; a wrong call for what are no tags.
absl::StatusOr<std::vector<Tag>> TagsOf(const std::vector<std::string>& texts);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_TAG_FLAGS_H_
