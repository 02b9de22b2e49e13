#include "core/base/mapped_bytes.h"

#include <unistd.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"

namespace slipway {

absl::StatusOr<int64_t> MappedBytes() {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string text, ReadFile("/proc/self/statm", 4096));
  int64_t pages = 0;
  if (!absl::SimpleAtoi(absl::string_view(text).substr(0, text.find(' ')), &pages)) {
    return absl::InternalError("/proc/self/statm begins with no number");
  }
  return pages * sysconf(_SC_PAGESIZE);
}

}  // namespace slipway
