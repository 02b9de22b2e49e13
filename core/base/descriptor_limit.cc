#include "core/base/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace slipway {
namespace {

// POSIX promises as many.
constexpr int kLeast = 20;
// Nobody here needs more, and tables that are as large as the limit stay small.
constexpr rlim_t kMost = 1 << 20;

}  // namespace

int RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kLeast;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::max(before, std::min(limit.rlim_max, kMost));
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  return static_cast<int>(std::min(limit.rlim_cur, kMost));
}

int DescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kLeast;
  return static_cast<int>(std::min(limit.rlim_cur, kMost));
}

}  // namespace slipway
