// ServerOptions: what the operator of slipwayd may say.
#ifndef SLIPWAY_SERVER_SERVER_OPTIONS_H_
#define SLIPWAY_SERVER_SERVER_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/flags.h"
#include "server/limits.h"

namespace slipway::server {

struct ServerOptions {
  std::string listen = "127.0.0.1:7411";
  std::string proxied_listen;  // Where proxies pass connections on; empty: nowhere.
  std::string proxies = "127.0.0.1,::1";
  std::string data_dir;   // Empty: $XDG_STATE_HOME/slipway or ~/.local/state/slipway.
  std::string blob_dir;   // Empty: below data_dir. May be shared with other servers and workers.
  std::string cache_dir;  // Empty: the user's cache folder, or below data_dir where there is none.
  bool insecure = false;
  bool accept_tokens = false;
  std::string certificate;  // For who calls it by the name in its address; empty: there is none.
  std::string key;          // Of that; empty: in the same file.
  std::string client_authority;  // Of callers who do; empty: the server's own.
  int64_t ready_fd = -1;
  bool exit_with_parent = false;
  std::string log_level = "info";
  std::string metrics_listen;  // Where metrics are read by HTTP; empty: nowhere.

  std::string worker;  // Empty: slipway-compile-worker beside this program.
  int64_t workers = 1;
  absl::Duration worker_idle = absl::Seconds(60);
  int64_t compile_memory_bytes = int64_t{8} << 30;
  bool require_confinement = false;

  absl::Duration silence = kDefaultSilence;
  absl::Duration job_retention = kDefaultJobRetention;
  int64_t max_connections = kDefaultMaxConnections;
  int64_t max_identity_connections = 0;  // 0: three quarters of those.
  int64_t memory_limit_bytes = 0;        // 0: half of what this process may have at most.
  absl::Duration compile_time_per_day = absl::ZeroDuration();  // Of an owner; zero: no limit.
  absl::Duration device_time_per_day = absl::ZeroDuration();   // The same.
  int64_t max_queued_jobs = kDefaultMaxQueuedJobs;
  absl::Duration probe_every = kDefaultProbeEvery;  // Zero: never.
  int64_t quarantine_after = kDefaultQuarantineAfter;
  int64_t max_user_priority = kDefaultMaxUserPriority;
  int64_t max_reservations = kDefaultMaxReservationsOfOwner;
  absl::Duration max_reservation = kDefaultMaxReservation;
  int64_t max_blob_bytes = kDefaultMaxBlobBytes;
  int64_t max_model_bytes = kDefaultMaxModelBytes;
  int64_t max_input_bytes = kDefaultMaxInputBytes;
  int64_t blob_quota_bytes = kDefaultBlobQuotaBytes;
  absl::Duration queue_deadline = kDefaultQueueDeadline;
  absl::Duration run_deadline = kDefaultRunDeadline;
  absl::Duration total_deadline = kDefaultTotalDeadline;
};

// Whether the server is called over TLS: not over a unix socket, and not where --insecure says so. REQUIRES: options of Complete.
bool IsOverTls(const ServerOptions& options);

// The machines of --proxies (core/rpc/peer_address.h). INVALID_ARGUMENT for what is no address.
absl::StatusOr<std::vector<std::string>> ProxyMachines(const ServerOptions& options);

// Binds every option to a flag.
void AddFlags(FlagSet& flags, ServerOptions* options);

// Fills in what depends on the machine, and checks. INVALID_ARGUMENT names the flag.
absl::StatusOr<ServerOptions> Complete(ServerOptions options);

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVER_OPTIONS_H_
