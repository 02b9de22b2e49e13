// CompilerIdentity: what the compiler on this machine compiles for, without starting it each time.
#ifndef SLIPWAY_SERVER_WORKERS_COMPILER_IDENTITY_H_
#define SLIPWAY_SERVER_WORKERS_COMPILER_IDENTITY_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/workers/target_fingerprints.h"

namespace slipway::server {

// Thread-safe.
class CompilerIdentity {
 public:
  // `worker` is the path of slipway-compile-worker. What it answers is kept in a file of `cache_folder`, and
  // holds as long as the program's path, size, time of change and inode stay the same.
  CompilerIdentity(std::string worker, std::string cache_folder);

  // Never empty. UNAVAILABLE when the program is not there or does not answer.
  absl::StatusOr<TargetFingerprints> Targets();

  // A worker of this program reports others: a library it uses has changed.
  void Correct(const TargetFingerprints& targets);

 private:
  absl::StatusOr<std::string> Stamp() const;
  std::string CachePath() const;
  void Keep(const std::string& stamp, TargetFingerprints targets)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string worker_;
  const std::string cache_folder_;
  absl::Mutex mu_;  // Held while the program runs: nobody needs to run it twice.
  std::string stamp_ ABSL_GUARDED_BY(mu_);
  TargetFingerprints targets_ ABSL_GUARDED_BY(mu_);
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_WORKERS_COMPILER_IDENTITY_H_
