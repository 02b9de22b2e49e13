#include "server/server_options.h"

#include <unistd.h>

#include <climits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/base/machine_memory.h"
#include "core/base/state_folder.h"
#include "core/base/status_macros.h"
#include "core/rpc/listen_address.h"
#include "core/rpc/peer_address.h"

namespace slipway::server {
namespace {

constexpr int64_t kMany = int64_t{1} << 50;

absl::StatusOr<std::string> OwnFolder() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  if (size <= 0) return absl::InternalError("cannot tell where this program lies: pass --worker");
  const absl::string_view text(path, static_cast<size_t>(size));
  return std::string(text.substr(0, text.rfind('/')));
}

// Bazel puts each binary below the folder of its package; an installation puts them side by side.
absl::StatusOr<std::string> FindWorker() {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string folder, OwnFolder());
  const std::string beside = JoinPath(folder, "slipway-compile-worker");
  const std::string below = JoinPath(folder, "compile_worker/slipway-compile-worker");
  return access(beside.c_str(), X_OK) != 0 && access(below.c_str(), X_OK) == 0 ? below : beside;
}

}  // namespace

void AddFlags(FlagSet& flags, ServerOptions* options) {
  flags.Add("listen", &options->listen, "ADDRESS",
            "Where to listen: HOST:PORT or unix:PATH; port 0 takes a free one.");
  flags.Add("proxied-listen", &options->proxied_listen, "ADDRESS",
            "Where proxies connect besides, which say by the PROXY protocol, version 2, where the "
            "connections come from that they pass on: HOST:PORT.");
  flags.Add("proxies", &options->proxies, "ADDRESSES",
            "The machines of these proxies, joined by commas; others are refused there.");
  flags.Add("data-dir", &options->data_dir, "FOLDER",
            "Where jobs and blobs are kept; one server's alone.");
  flags.Add("blob-dir", &options->blob_dir, "FOLDER",
            "Where blobs and compiled artifacts are kept; may be shared.");
  flags.Add("cache-dir", &options->cache_dir, "FOLDER",
            "Where the compiler keeps kernels; may be shared.");
  flags.Add(
      "insecure", &options->insecure,
      "Listen without TLS, and ask nobody who he is: whoever reaches this may do everything.");
  flags.Add("accept-tokens", &options->accept_tokens,
            "Let callers in without a certificate who show a token of `slipwayd token`.");
  flags.Add(
      "certificate", &options->certificate, "FILE",
      "What the server proves itself with to who calls it with --authority: a certificate for "
      "its name, and those between it and its authority. Read anew when it changes.");
  flags.Add("key", &options->key, "FILE", "The key of --certificate; default: in the same file.");
  flags.Add(
      "client-authority", &options->client_authority, "FILE",
      "With --certificate: who vouches for callers with --authority, by certificates with the "
      "URI urn:slipway:ROLE:NAME; default: the server itself.");
  flags.Add("ready-fd", &options->ready_fd, -1, INT_MAX, "FD",
            "Write the address there when serving, and close it.");
  flags.Add("exit-with-parent", &options->exit_with_parent, "End when the starting process ends.");
  flags.Add("log-level", &options->log_level, "LEVEL", "debug, info, warning or error.");
  flags.Add("metrics-listen", &options->metrics_listen, "ADDRESS",
            "Where Prometheus reads /metrics by HTTP, as may everybody who reaches it: HOST:PORT, "
            "such as "
            "127.0.0.1:9411, or unix:PATH. Default: nowhere.");
  flags.Add("worker", &options->worker, "FILE", "The slipway-compile-worker to start.");
  flags.Add("workers", &options->workers, 0, 64, "COUNT", "Most workers to start on this machine.");
  flags.Add("worker-idle", &options->worker_idle, "TIME",
            "Workers end after this time without work.");
  flags.AddBytes("compile-memory", &options->compile_memory_bytes, 512 << 20, kMany,
                 "Memory that one compilation may take.");
  flags.Add("require-confinement", &options->require_confinement,
            "Compile on this machine only where nothing is missing of what confines the compiler.");
  flags.Add("silence", &options->silence, "TIME",
            "Agents and workers silent for this long are lost.");
  flags.Add("job-retention", &options->job_retention, "TIME", "How long ended jobs are kept.");
  flags.Add("max-connections", &options->max_connections, 1, 1'000'000, "COUNT",
            "Most connections, as far as `ulimit -Hn` allows.");
  flags.Add("max-identity-connections", &options->max_identity_connections, 0, 1'000'000, "COUNT",
            "Most connections of one who has joined; 0: three quarters of all.");
  flags.AddBytes("memory-limit", &options->memory_limit_bytes, 0, kMany,
                 "Memory of the server's own process; above 80 % of it, nothing new is begun. 0: "
                 "half of the machine's, or of its control group's.");
  flags.Add("compile-time-per-day", &options->compile_time_per_day, "TIME",
            "How long one owner's compilations may hold workers within 24 hours; 0: no limit.");
  flags.Add("device-time-per-day", &options->device_time_per_day, "TIME",
            "How long one owner's jobs may hold devices within 24 hours; 0: no limit.");
  flags.Add("max-queued-jobs", &options->max_queued_jobs, 1, 10'000'000, "COUNT",
            "Most jobs that wait or run.");
  flags.Add("probe-every", &options->probe_every, "TIME",
            "How often a device that is idle is probed, by a small program; 0s: never.");
  flags.Add("quarantine-after", &options->quarantine_after, 0, 1'000, "COUNT",
            "Failures in a row, of probes or of attempts for which the device is to blame, after "
            "which it is given probes alone; 0: however many.");
  flags.Add("max-user-priority", &options->max_user_priority, -kMaxPriority, kMaxPriority, "N",
            "Highest priority that users may ask for; administrators have all, up to 1,000.");
  flags.Add("max-reservations", &options->max_reservations, 0, kMaxReservations, "COUNT",
            "Most reservations of a user at a time; administrators have as many as they need.");
  flags.Add("max-reservation", &options->max_reservation, "TIME",
            "Longest reservation of a user; of an administrator it is 720h.");
  flags.AddBytes("max-blob-size", &options->max_blob_bytes, 1, kMany, "Largest blob.");
  flags.AddBytes("max-model-size", &options->max_model_bytes, 1, kMany,
                 "Largest sum of a model's files.");
  flags.AddBytes("max-input-size", &options->max_input_bytes, 1, kMany,
                 "Largest sum of a run's inputs.");
  flags.AddBytes("blob-quota", &options->blob_quota_bytes, 1, kMany,
                 "Bytes of blobs kept before unused ones are evicted.");
  flags.Add("queue-deadline", &options->queue_deadline, "TIME",
            "How long a job may wait, by default.");
  flags.Add("run-deadline", &options->run_deadline, "TIME",
            "How long an attempt may take, by default.");
  flags.Add("total-deadline", &options->total_deadline, "TIME",
            "How long a job may take, by default.");
}

bool IsOverTls(const ServerOptions& options) {
  const absl::StatusOr<ListenAddress> address = ParseListenAddress(options.listen);
  return !options.insecure && address.ok() && !address->host.empty();
}

absl::StatusOr<std::vector<std::string>> ProxyMachines(const ServerOptions& options) {
  std::vector<std::string> machines;
  for (const absl::string_view text : absl::StrSplit(options.proxies, ',')) {
    machines.push_back(MachineOf(text));
    if (!machines.back().empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--proxies has '", absl::Utf8SafeCEscape(text),
                     "': addresses such as 10.0.0.7 or ::1 are wanted, joined by commas"));
  }
  return machines;
}

absl::StatusOr<ServerOptions> Complete(ServerOptions options) {
  SLIPWAY_RETURN_IF_ERROR_WITH(ParseLogLevel(options.log_level).status(), "--log-level");
  SLIPWAY_RETURN_IF_ERROR_WITH(ParseListenAddress(options.listen).status(), "--listen");
  if (!options.metrics_listen.empty()) {
    SLIPWAY_RETURN_IF_ERROR_WITH(ParseListenAddress(options.metrics_listen).status(),
                                 "--metrics-listen");
  }
  for (const auto& [name, time] :
       {std::pair<const char*, absl::Duration>{"--queue-deadline", options.queue_deadline},
        {"--run-deadline", options.run_deadline},
        {"--total-deadline", options.total_deadline}}) {
    if (time <= absl::ZeroDuration() || time > kMaxDeadline) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " is ", absl::FormatDuration(time), "; above 0 and at most ",
                       absl::FormatDuration(kMaxDeadline), " wanted"));
    }
  }
  if (options.certificate.empty() && (!options.key.empty() || !options.client_authority.empty())) {
    return absl::InvalidArgumentError(
        "--key and --client-authority are for callers whom --certificate is shown to: pass that, "
        "too");
  }
  if (!options.certificate.empty()) {
    if (!IsOverTls(options)) {
      return absl::InvalidArgumentError(
          "--certificate is for TLS: not together with --insecure or a unix socket");
    }
    if (options.key.empty()) options.key = options.certificate;
  }
  if (!options.proxied_listen.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(const ListenAddress proxied,
                                  ParseListenAddress(options.proxied_listen), "--proxied-listen");
    if (proxied.host.empty() || !IsOverTls(options)) {
      return absl::InvalidArgumentError(
          "--proxied-listen is HOST:PORT, and for TLS: not together with --insecure or a unix "
          "socket");
    }
    SLIPWAY_RETURN_IF_ERROR(ProxyMachines(options).status());
  }
  if (options.silence < absl::Seconds(1))
    return absl::InvalidArgumentError("--silence is below 1s");
  if (options.data_dir.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN_WITH(options.data_dir, UserStateFolder(), "--data-dir is not given");
  }
  if (options.blob_dir.empty()) options.blob_dir = JoinPath(options.data_dir, "store");
  if (options.cache_dir.empty()) {
    const absl::StatusOr<std::string> cache = UserCacheFolder();
    options.cache_dir = cache.ok() ? *cache : JoinPath(options.data_dir, "cache");
  }
  if (options.memory_limit_bytes == 0) options.memory_limit_bytes = MachineMemoryBytes() / 2;
  if (options.worker.empty()) {
    SLIPWAY_ASSIGN_OR_RETURN(options.worker, FindWorker());
  }
  return options;
}

}  // namespace slipway::server
