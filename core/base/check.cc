#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace slipway {

// Straight to stderr: the log may be what is broken.
void CheckFailed(const char* file, int line, const char* condition, absl::string_view message) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %.*s\n", file, line, condition,
               static_cast<int>(message.size()), message.data());
  std::abort();
}

}  // namespace slipway
