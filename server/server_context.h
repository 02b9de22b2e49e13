// ServerContext: the server's long-lived objects, in the order in which they are made.
#ifndef SLIPWAY_SERVER_SERVER_CONTEXT_H_
#define SLIPWAY_SERVER_SERVER_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/optional.h"
#include "core/base/awake_clock.h"
#include "core/base/clock.h"
#include "core/metrics/metrics_endpoint.h"
#include "core/store/compile_cache.h"
#include "core/store/quota_blob_store.h"
#include "server/artifacts/artifact_library.h"
#include "server/audit/audit_log.h"
#include "server/change_hub.h"
#include "server/data_folder.h"
#include "server/devices/agent_offers.h"
#include "server/handlers/environment.h"
#include "server/handlers/open_downloads.h"
#include "server/handlers/open_uploads.h"
#include "server/health/probe_program.h"
#include "server/identities/identities.h"
#include "server/identities/statement_key.h"
#include "server/listener_check.h"
#include "server/memory_watch.h"
#include "server/names.h"
#include "server/scheduler/dispatcher.h"
#include "server/server_options.h"
#include "server/services/grpc_server.h"
#include "server/storage/sqlite_store.h"
#include "server/timer_queue.h"
#include "server/work_pool.h"
#include "server/workers/compiler_identity.h"
#include "server/workers/local_workers.h"
#include "server/workers/target_fingerprints.h"

namespace slipway::server {

// A whole server: serves when made, ends when destroyed.
class ServerContext {
 public:
  // REQUIRES: `options` from Complete. FAILED_PRECONDITION when another server has the data folder, naming it;
  // errors of the files; UNAVAILABLE when the address is taken.
  // `when_deaf` is called once when the server lets in nobody any more, for a reason unknown; null: nobody looks.
  static absl::StatusOr<std::unique_ptr<ServerContext>> Create(
      const ServerOptions& options, std::function<void()> when_deaf = nullptr);
  ~ServerContext();
  ServerContext(const ServerContext&) = delete;
  ServerContext& operator=(const ServerContext&) = delete;

  const std::string& address() const { return address_; }
  // Where metrics are read; empty: nowhere.
  std::string metrics_address() const;
  const Environment& environment() const { return env_; }

 private:
  ServerContext(ServerOptions options, std::function<void()> when_deaf);

  absl::Status Open();
  absl::Status OpenStores();
  absl::Status OpenIdentities();
  // What the jobs and probes need.
  absl::flat_hash_set<Digest> PinnedBlobs();
  absl::Status StartDispatcher();
  std::string WorkerTokenPath() const;
  absl::StatusOr<std::string> MakeWorkerToken() const;
  // Whether what others have given the server to prove itself with can be used now.
  absl::Status CheckGivenFiles() const;
  // With TLS: what the server proves itself with, and its own workers to it.
  absl::Status KeepIdentities();
  // The same for the user whom the server runs as, so that his commands, agents and workers on this machine find it.
  void KeepUsersIdentities();
  void KeepIdentitiesDaily();
  void StartWorkers();
  absl::Status StartMetrics();
  std::string MetricsText() const;
  void TellDemand();
  // Lets the dispatcher do what is due after `wait`.
  void TickAfter(absl::Duration wait);
  void Tick();
  void KeepTime();
  // Calls when_deaf_ when it is so.
  void CheckListener();
  // Closes transfers that stand still, and drops what is left of old ones.
  void TidyUploads();
  absl::StatusOr<std::string> Fingerprint(const Target& target);
  // What there are compilers for; of the server's own one and another, its own.
  TargetFingerprints Compilers();

  const ServerOptions options_;
  const std::function<void()> when_deaf_;
  const SystemClock machine_clock_;
  // By which others' silence is judged; KeepTime reads it.
  const AwakeClock clock_{&machine_clock_};
  IdGenerator ids_;
  MemoryWatch memory_;
  absl::optional<DataFolder> folder_;
  std::unique_ptr<SqliteStore> store_;
  std::atomic<int64_t> evicted_ = 0;
  std::unique_ptr<QuotaBlobStore> blobs_;
  absl::optional<ProbePrograms> probes_;
  OpenUploads uploads_{
      &machine_clock_,
      {.in_all = kMaxOpenUploads, .of_owner = kMaxOpenUploadsOfOwner, .idle = kUploadIdle}};
  OpenDownloads downloads_{{.in_all = kMaxOpenDownloads,
                            .of_owner = kMaxOpenDownloadsOfOwner,
                            .bytes = kDownloadBytes,
                            .least_piece = kMinPieceBytes,
                            .largest_piece = kMaxPieceBytes}};
  std::unique_ptr<CompileCache> compile_cache_;
  std::unique_ptr<StatementKey> statement_key_;  // With TLS.
  std::unique_ptr<AgentOffers> agent_offers_;
  std::unique_ptr<ArtifactLibrary> artifacts_;
  std::unique_ptr<Identities> identities_;
  std::unique_ptr<AuditLog> audit_;
  std::unique_ptr<CompilerIdentity> compiler_;
  ChangeHub hub_;
  // The two below call into what is above and below: the destructor stops them in time.
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<TimerQueue> timers_;
  Environment env_;
  std::unique_ptr<WorkPool> pool_;
  std::unique_ptr<WorkPool> peer_pool_;
  std::unique_ptr<GrpcServer> grpc_;
  std::string address_;
  std::unique_ptr<LocalWorkers> workers_;
  std::unique_ptr<MetricsEndpoint> metrics_;   // Null: nobody reads them.
  std::atomic<Dispatcher*> ticked_ = nullptr;  // Set once dispatcher_ is.
  absl::Mutex told_mu_;
  // Whom to tell demand, if anybody.
  LocalWorkers* told_workers_ ABSL_GUARDED_BY(told_mu_) = nullptr;
  absl::optional<ListenerCheck> listener_check_ ABSL_GUARDED_BY(told_mu_);  // While grpc_ is there.
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_SERVER_CONTEXT_H_
