// Folders of files that may be forgotten, held to a size: caches that several processes share.
#ifndef SLIPWAY_CORE_BASE_BOUNDED_FOLDER_H_
#define SLIPWAY_CORE_BASE_BOUNDED_FOLDER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace slipway {

// Removes files of `folder` whose names end with `suffix`, longest unused first, where all of them together have more than `max_bytes`; then
// down to three quarters of that, so that not every new file has to look for what goes. Others may remove files meanwhile: what fails is
// left out.
void RemoveLongestUnused(const std::string& folder, absl::string_view suffix, int64_t max_bytes);

// The file was used now. That it cannot be noted is no error.
void NoteUse(const std::string& path);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_BOUNDED_FOLDER_H_
