// WorkerOptions: what the operator of slipway-compile-worker may say.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_WORKER_OPTIONS_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_WORKER_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/base/flags.h"

namespace slipway::worker {

struct WorkerOptions {
  std::string server = "127.0.0.1:7411";
  std::string worker_id;  // Empty: DefaultWorkerId.
  std::string
      blob_dir;  // Empty: a cache of the worker's own, below cache_dir. Else shared, and durable.
  std::string cache_dir;  // Empty: the user's cache folder.
  std::string authority;
  std::string identity;
  std::string token_file;
  bool insecure = false;
  int64_t capacity = 1;
  int64_t compile_memory_bytes = int64_t{8} << 30;
  int64_t blob_quota_bytes = int64_t{20} << 30;  // Of the worker's own cache.
  bool require_confinement = false;
  bool print_targets = false;
  bool exit_with_parent = false;
  std::string log_level = "info";
};

// What a worker is called that nobody has named: by the name that it joined the server by, if it has, else by the host's; with the
// process's number.
std::string DefaultWorkerId(const std::optional<std::string>& joined_name);

// Binds every option to a flag.
void AddFlags(FlagSet& flags, WorkerOptions* options);

// Fills in what depends on the machine, and checks. INVALID_ARGUMENT names the flag.
absl::StatusOr<WorkerOptions> Complete(WorkerOptions options);

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_WORKER_OPTIONS_H_
