// Environment: what every handler works with.
#ifndef SLIPWAY_SERVER_HANDLERS_ENVIRONMENT_H_
#define SLIPWAY_SERVER_HANDLERS_ENVIRONMENT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/store/blob_store.h"
#include "core/target/target.h"
#include "server/artifacts/artifact_library.h"
#include "server/devices/agent_offers.h"
#include "server/handlers/open_downloads.h"
#include "server/handlers/open_uploads.h"
#include "server/history/history_store.h"
#include "server/identities/identities.h"
#include "server/identities/statement_key.h"
#include "server/jobs/job_store.h"
#include "server/limits.h"
#include "server/memory_watch.h"
#include "server/names.h"
#include "server/scheduler/dispatcher.h"

namespace slipway::server {

// What an operator may change.
struct HandlerLimits {
  int64_t max_blob_bytes = kDefaultMaxBlobBytes;
  int64_t max_model_bytes = kDefaultMaxModelBytes;
  int64_t max_input_bytes = kDefaultMaxInputBytes;
  int64_t max_queued_jobs = kDefaultMaxQueuedJobs;
  int64_t blob_quota_bytes = kDefaultBlobQuotaBytes;
  absl::Duration job_retention = kDefaultJobRetention;
  absl::Duration queue_deadline = kDefaultQueueDeadline;
  absl::Duration run_deadline = kDefaultRunDeadline;
  absl::Duration total_deadline = kDefaultTotalDeadline;
  // Of users who are no administrators.
  int64_t max_user_priority = kDefaultMaxUserPriority;
  absl::Duration max_reservation = kDefaultMaxReservation;
};

// Owns nothing; all parts are thread-safe and outlive it.
struct Environment {
  JobStore* jobs = nullptr;
  HistoryStore* history = nullptr;
  Dispatcher* dispatcher = nullptr;
  BlobStore* blobs = nullptr;
  OpenUploads* uploads = nullptr;
  OpenDownloads* downloads = nullptr;
  ArtifactLibrary* artifacts = nullptr;
  Identities* identities = nullptr;
  AgentOffers* agent_offers = nullptr;
  const StatementKey* statement_key = nullptr;  // With TLS.
  const Clock* clock = nullptr;
  IdGenerator* ids = nullptr;
  MemoryWatch* memory = nullptr;
  // Fingerprint of the compiler that new compilations for a target are for. UNAVAILABLE when there is no
  // compiler, UNIMPLEMENTED when none compiles for the target; the message names what there is.
  std::function<absl::StatusOr<std::string>(const Target&)> fingerprint;
  // The families of targets (FamilyOf) that there are compilers for, sorted.
  std::function<std::vector<std::string>()> compiler_families;
  const std::atomic<int64_t>* blobs_evicted = nullptr;  // Since the server began; may be null.
  // Bytes of the blobs that are kept, as the quota counts them; null: nobody counts them.
  std::function<absl::StatusOr<int64_t>()> blob_bytes;
  std::string blob_dir;  // Where they lie.
  HandlerLimits limits;
  std::string instance_id;               // Of this start of the server,
  absl::Duration began;                  // which was then, monotonic,
  LogLevel log_level = LogLevel::kInfo;  // with this level of its log.
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_HANDLERS_ENVIRONMENT_H_
