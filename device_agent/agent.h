// Agent: everything an agent's process holds, in the order in which it is made.
#ifndef SLIPWAY_DEVICE_AGENT_AGENT_H_
#define SLIPWAY_DEVICE_AGENT_AGENT_H_

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/metrics/metrics_endpoint.h"
#include "core/rpc/renewal.h"
#include "core/store/blob_store.h"
#include "device_agent/agent_loop.h"
#include "device_agent/agent_metrics.h"
#include "device_agent/agent_options.h"
#include "device_agent/agent_transport.h"
#include "device_agent/attempt.h"
#include "device_agent/inventory_watch.h"
#include "device_agent/kept_peaks.h"
#include "device_agent/pinned_blobs.h"
#include "device_agent/program_gate.h"
#include "device_agent/runner/runner_pool.h"
#include "device_agent/session/grpc_session_listener.h"
#include "device_agent/session/leased_session.h"
#include "device_agent/session/local_sessions.h"
#include "device_agent/update/update_taker.h"

namespace slipway {

class Agent {
 public:
  // Takes the state folder. FAILED_PRECONDITION when another agent has it; errors of its files; UNAVAILABLE when it
  // cannot listen where it shall.
  // `transport` is for tests; null: gRPC to options.server. `executable` starts runners.
  static absl::StatusOr<std::unique_ptr<Agent>> Create(
      const AgentOptions& options, std::unique_ptr<AgentTransport> transport = nullptr,
      std::string executable = kOwnExecutable);

  ~Agent();

  // Works until `stop`, or until another binary is to run in place of this one.
  AgentEnd Run(std::stop_token stop);

  const std::string& id() const { return tools_.device_id; }

 private:
  Agent(const AgentOptions& options, FileLock lock, std::unique_ptr<AgentTransport> transport)
      : options_(options), lock_(std::move(lock)), transport_(std::move(transport)) {}
  // What the agent is there for: one of them, or both.
  void WorkForServer(AgentLoopOptions loop);
  absl::Status Listen();
  absl::Status ServeMetrics();
  SessionTools MakeSessionTools();
  // The same for a session of the server's, with programs that it vouches for.
  SessionTools MakeSessionTools(const v1::RunAssignment& assignment);
  absl::Status LetIn(const v1::SessionLease& lease, const CheckedManifest& program,
                     absl::Time until, std::stop_token stop);
  v1::RunAttemptState RunOne(const v1::RunAssignment& assignment, const AttemptObserver& observer,
                             std::stop_token stop);
  void TellReady(const std::string& what);
  // After that, so that it holds nobody up.
  void FindPeaks();
  v1::DeviceInventory LookAtInventory();
  // Thread-safe. Changes what is said of the device, and reports it.
  void Describe(absl::FunctionRef<void(v1::DeviceDescription&)> change);
  v1::DeviceDescription Description();

  const AgentOptions options_;
  const FileLock lock_;
  const SystemClock clock_;
  AgentTally tally_;
  const std::unique_ptr<AgentTransport> transport_;
  std::string identity_file_;             // Who the agent is, over TLS; else empty.
  std::unique_ptr<Renewal> renewal_;      // Of that.
  std::unique_ptr<ProgramGate> gate_;     // Unless the agent has joined no server.
  std::unique_ptr<UpdateTaker> updates_;  // Of one that takes offers.
  PinnedBlobs pinned_;
  std::unique_ptr<BlobStore> cache_;
  bool is_attached_ = false;                   // Programs run elsewhere.
  std::optional<CacheSizes> attached_caches_;  // Of the machine there.
  std::optional<RunnerPool> runners_;
  absl::Mutex mutex_;
  v1::DeviceDescription device_ ABSL_GUARDED_BY(mutex_);  // As the last report has it.
  std::optional<KeptPeaks> peaks_;                        // Unless they shall not be measured.
  AttemptTools tools_;
  LeasedSession leased_;
  std::stop_token stop_;  // Of Run.
  std::optional<AgentLoop> loop_;
  std::unique_ptr<SessionListener> listener_;
  std::optional<LocalSessions> sessions_;  // Without a server.
  std::vector<std::string> gpus_;          // As NameGpus takes them.
  std::optional<InventoryWatch> inventory_;
  std::unique_ptr<MetricsEndpoint> metrics_;  // Null: nobody reads them.
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_AGENT_H_
