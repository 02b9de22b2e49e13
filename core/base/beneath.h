// Files that something untrusted names: a model names the files of its weights.
#ifndef SLIPWAY_CORE_BASE_BENEATH_H_
#define SLIPWAY_CORE_BASE_BENEATH_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/files.h"

namespace slipway {

// Maps the file `name` below `folder`. Nothing below `folder` is reached through a symbolic link, whatever is exchanged
// meanwhile; `folder` itself may be one. `name` is relative and has no empty part, "." or "..". INVALID_ARGUMENT for
// another name, for a link, which the message names, and for what is no file; otherwise as MappedFile::Open.
absl::StatusOr<MappedFile> MapBeneath(const std::string& folder, absl::string_view name,
                                      int64_t max_bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_BENEATH_H_
