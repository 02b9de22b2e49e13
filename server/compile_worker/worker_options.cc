#include "server/compile_worker/worker_options.h"

#include <unistd.h>

#include <climits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"

namespace slipway::worker {
namespace {

constexpr int64_t kMany = int64_t{1} << 50;
constexpr size_t kMaxHostBytes = 48;

// The host's name in the characters that ids may have.
std::string HostPart() {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, sizeof(name) - 1);
  std::string id = absl::AsciiStrToLower(absl::string_view(name).substr(0, kMaxHostBytes));
  for (char& c : id) {
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && c != '.' && c != '_') c = '-';
  }
  return id;
}

}  // namespace

std::string DefaultWorkerId(const std::optional<std::string>& joined_name) {
  if (joined_name.has_value()) return absl::StrCat(*joined_name, ".", getpid());
  return absl::StrCat("w", HostPart(), "-", getpid());
}

void AddFlags(FlagSet& flags, WorkerOptions* options) {
  flags.Add("server", &options->server, "ADDRESS", "Server to work for: HOST:PORT or unix:PATH.");
  flags.Add("worker-id", &options->worker_id, "ID", "Unique among the server's workers.");
  flags.Add("blob-dir", &options->blob_dir, "FOLDER", "Blob store shared with the server.");
  flags.Add("cache-dir", &options->cache_dir, "FOLDER",
            "Where kernels and fetched files are kept.");
  flags.Add("authority", &options->authority, "FILE",
            "Certificates of who vouches for the server by its address, and for --identity; else "
            "the server's own authority does.");
  flags.Add("identity", &options->identity, "FILE",
            "Who the worker is, as `slipway-compile-worker join` wrote it; default: the one for "
            "this server.");
  flags.Add("token-file", &options->token_file, "FILE", "Token to show to the server.");
  flags.Add("insecure", &options->insecure, "Call the server without TLS.");
  flags.Add("capacity", &options->capacity, 1, 64, "COUNT", "Compilations at a time.");
  flags.AddBytes("compile-memory", &options->compile_memory_bytes, 512 << 20, kMany,
                 "Memory that one compilation may take.");
  flags.AddBytes("blob-quota", &options->blob_quota_bytes, 1 << 20, kMany,
                 "Bytes of fetched files kept, without --blob-dir.");
  flags.Add("require-confinement", &options->require_confinement,
            "Do not start where a part of what confines the compiler is missing.");
  flags.Add("print-targets", &options->print_targets,
            "Print families of targets and its fingerprint for them, and end.");
  flags.Add("exit-with-parent", &options->exit_with_parent, "End when the starting process ends.");
  flags.Add("log-level", &options->log_level, "LEVEL", "debug, info, warning or error.");
}

absl::StatusOr<WorkerOptions> Complete(WorkerOptions options) {
  SLIPWAY_RETURN_IF_ERROR_WITH(ParseLogLevel(options.log_level).status(), "--log-level");
  if (options.server.empty()) return absl::InvalidArgumentError("--server is empty");
  if (options.cache_dir.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(options.cache_dir, UserCacheFolder(), "--cache-dir");
  }
  return options;
}

}  // namespace slipway::worker
