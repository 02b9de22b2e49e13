// WorkerLoop: reports what it holds, and moves towards what the server wants.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_WORKER_LOOP_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_WORKER_LOOP_H_

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "core/base/followed_log_level.h"
#include "core/compiler/compiler_target.h"
#include "core/rpc/retry.h"
#include "proto/slipway/v1/worker.pb.h"
#include "server/compile_worker/compile_attempt.h"
#include "server/compile_worker/worker_transport.h"

namespace slipway::worker {

class WorkerLoop {
 public:
  struct Options {
    std::string worker_id;
    std::string instance_id;
    std::vector<CompilerTarget> targets;  // Not empty.
    int capacity = 1;
  };
  // `env` must outlive the loop.
  WorkerLoop(Options options, const AttemptEnvironment* env);
  ~WorkerLoop();

  // Works until Stop.
  void Run();
  // Lets Run return soon; attempts are stopped. Thread-safe.
  void Stop();

 private:
  v1::WorkerState NextReport();
  void Move(const v1::DesiredWorkerState& desired);
  // After a failed Sync.
  void WaitAfter(const absl::Status& status);

  const Options options_;
  const AttemptEnvironment& env_;
  // Of Run's thread alone, but for stops_, which is thread-safe.
  int64_t sequence_ = 0;
  std::string applied_version_;
  absl::Duration silence_;  // That the server tolerates; zero: it has not said.
  Backoff backoff_;
  FollowedLogLevel log_level_;
  absl::btree_map<std::string, std::unique_ptr<CompileAttempt>> attempts_;

  std::stop_source stops_;
};

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_WORKER_LOOP_H_
