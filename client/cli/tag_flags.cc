#include "client/cli/tag_flags.h"

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"

namespace slipway::cli {

absl::StatusOr<std::vector<Tag>> TagsOf(const std::vector<std::string>& texts) {
  absl::StatusOr<std::vector<Tag>> tags = ParseTags(texts);
  if (tags.ok()) return tags;
  return WrongCall(absl::StrCat("flag \"--tag\": ", tags.status().message()));
}

}  // namespace slipway::cli
