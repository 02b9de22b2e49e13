// CompilerIdentity: the fingerprint of the compiler on this machine, without starting it each time.
#ifndef SLIPWAY_SERVER_WORKERS_COMPILER_IDENTITY_H_
#define SLIPWAY_SERVER_WORKERS_COMPILER_IDENTITY_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace slipway::server {

// Thread-safe.
class CompilerIdentity {
 public:
  // `worker` is the path of slipway-compile-worker. What it answers is kept in a file of `cache_folder`, and
  // holds as long as the program's path, size, time of change and inode stay the same.
  CompilerIdentity(std::string worker, std::string cache_folder);

  // The fingerprint, 64 hexadecimal digits. UNAVAILABLE when the program is not there or does not answer.
  absl::StatusOr<std::string> Fingerprint();

  // A worker of this program reports another one: a library it uses has changed.
  void Correct(absl::string_view fingerprint);

 private:
  absl::StatusOr<std::string> Stamp() const;
  std::string CachePath() const;
  void Keep(const std::string& stamp, absl::string_view fingerprint)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string worker_;
  const std::string cache_folder_;
  absl::Mutex mu_;  // Held while the program runs: nobody needs to run it twice.
  std::string stamp_ ABSL_GUARDED_BY(mu_);
  std::string fingerprint_ ABSL_GUARDED_BY(mu_);
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_WORKERS_COMPILER_IDENTITY_H_
