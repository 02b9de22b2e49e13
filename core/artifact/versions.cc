#include "core/artifact/versions.h"

#include "absl/strings/str_cat.h"

namespace slipway {

std::string ToString(const VersionRange& range) {
  if (range.lowest == range.highest) return absl::StrCat(range.lowest);
  return absl::StrCat(range.lowest, " to ", range.highest);
}

}  // namespace slipway
