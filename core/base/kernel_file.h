// Files that the kernel makes, by which it is told what to do: of /proc, of control groups.
#ifndef SLIPWAY_CORE_BASE_KERNEL_FILE_H_
#define SLIPWAY_CORE_BASE_KERNEL_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace slipway {

// Writes `text` into the file at `path`, which is there already, at once, since the kernel takes each write for a request. The errors are
// those of ErrnoStatus.
absl::Status WriteKernelFile(const std::string& path, absl::string_view text);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_KERNEL_FILE_H_
