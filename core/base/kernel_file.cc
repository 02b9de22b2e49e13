#include "core/base/kernel_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"

namespace slipway {

absl::Status WriteKernelFile(const std::string& path, absl::string_view text) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.is_open() &&
      write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, absl::StrCat("cannot write \"", path, "\""));
}

}  // namespace slipway
