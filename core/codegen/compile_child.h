// The process that compiles one kernel: forked, bounded, and read when it is done.
#ifndef SLIPWAY_CORE_CODEGEN_COMPILE_CHILD_H_
#define SLIPWAY_CORE_CODEGEN_COMPILE_CHILD_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/files.h"

namespace slipway {

// What runs in the child: writes its result to the file at `path` and returns. May throw.
using ChildBody = std::function<absl::Status(const std::string& path)>;

// A child process and the memory files it writes to. Killed and reaped on destruction.
class CompileChild {
 public:
  // Forks. `memory_limit_bytes` bounds what the child may map beyond what it has; 0 for no limit.
  // RESOURCE_EXHAUSTED when the system refuses. REQUIRES: the process has one thread.
  static absl::StatusOr<CompileChild> Start(const ChildBody& body, int64_t memory_limit_bytes);

  CompileChild(CompileChild&& other) noexcept;
  CompileChild& operator=(CompileChild&& other) noexcept;
  ~CompileChild();

  // Becomes readable (end of file) when the child is gone.
  int done_fd() const { return done_.get(); }

  // Waits for the child and returns what it wrote. The body's own error, RESOURCE_EXHAUSTED when it
  // ran out of memory, ABORTED when somebody killed it, INTERNAL with signal and log when it crashed.
  absl::StatusOr<std::string> Finish();

  // The end of what the child wrote to its standard output and error.
  std::string Log() const;

 private:
  CompileChild() = default;
  void Kill();

  pid_t pid_ = -1;
  UniqueFd done_;
  UniqueFd result_;
  UniqueFd message_;
  UniqueFd log_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_COMPILE_CHILD_H_
