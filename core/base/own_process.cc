#include "core/base/own_process.h"

#include <dirent.h>
#include <sys/resource.h>

#include <memory>

namespace slipway {

int OpenDescriptors() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (folder == nullptr) return 0;
  int count = 0;
  while (readdir(folder.get()) != nullptr) ++count;
  // The folder itself, "." and "..".
  return count - 3;
}

absl::Duration OwnProcessorTime() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return absl::DurationFromTimeval(usage.ru_utime) + absl::DurationFromTimeval(usage.ru_stime);
}

}  // namespace slipway
