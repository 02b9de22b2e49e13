// CompileAttempt: one compilation from assignment to result: fetch, compile in a child, send.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_COMPILE_ATTEMPT_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_COMPILE_ATTEMPT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "core/rpc/retry.h"
#include "core/store/blob_store.h"
#include "proto/slipway/v1/worker.pb.h"
#include "server/compile_worker/compile_child.h"
#include "server/compile_worker/worker_transport.h"

namespace slipway::worker {

// What attempts work with; owned by the worker.
struct AttemptEnvironment {
  WorkerTransport* transport = nullptr;
  BlobStore* store = nullptr;  // At store_folder.
  std::string store_folder;
  bool store_is_durable = false;
  std::string kernel_cache_folder;
  std::vector<std::string> child_command;
  int64_t memory_bytes = 0;
  const ControlGroups* groups = nullptr;  // As of CompileChild::Options.
  bool require_confinement = false;       // Children that cannot be confined wholly do not compile.
  bool take_machine_lock = true;          // Benchmarks on this machine and compilations take turns.
};

// Runs on a thread of its own from construction on. Thread-safe.
class CompileAttempt {
 public:
  // Called when the attempt has ended.
  using Ended = std::function<void()>;
  CompileAttempt(const AttemptEnvironment* env, const v1::CompileAssignment& assignment,
                 Ended ended);
  // Stops it and waits.
  ~CompileAttempt();

  v1::CompileAttemptState State() const;

 private:
  void Run();
  // What is reported at the end.
  v1::CompileAttemptState Work();
  absl::Status FetchFiles();
  v1::CompileAttemptState Failed(const absl::Status& status, bool retriable) const;
  void ShowProgress(absl::string_view stage, int64_t done, int64_t total);

  const AttemptEnvironment& env_;
  const v1::CompileAssignment assignment_;
  const Ended ended_;
  const absl::Duration began_;  // Monotonic.
  std::stop_source stop_;
  const RetryPolicy transfers_;  // Stopped by stop_.

  mutable absl::Mutex mu_;
  v1::CompileAttemptState state_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<CompileChild> child_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_COMPILE_ATTEMPT_H_
