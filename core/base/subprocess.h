// Subprocess: a child process with what it gets, its limits, and a certain end.
//
// Children are made by posix_spawn: no code of ours runs between fork and exec, which a process with
// threads could not do safely. A child therefore starts without limits and gets them by prlimit(2)
// before Start returns. That is early enough: a limit on memory or processor time holds for all that
// is taken from then on, and nobody has told the child what to work on yet. One that starts others, or becomes another user,
// before it is told must wait for them (waits_for_limits).
//
// A child is the leader of a process group of its own: Kill reaches its children too, and a Ctrl-C
// on the terminal does not reach it. When it ends, what is left of its group is killed. All
// descriptors but the ones named are closed in it, all signals are at their defaults.
//
// It is started by a thread that waits for its end. PR_SET_PDEATHSIG, which fires when the *thread* that started a child
// ends, is therefore a signal of this process's end: to a child that may do nothing else about it.
#ifndef SLIPWAY_CORE_BASE_SUBPROCESS_H_
#define SLIPWAY_CORE_BASE_SUBPROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/base/control_group.h"
#include "core/base/files.h"

namespace slipway {

// argv[0] that starts this very program again, also when its file has been replaced since.
inline constexpr char kOwnExecutable[] = "/proc/self/exe";

// Where a standard stream of a child leads.
struct ChildStream {
  enum class Kind { kInherit, kNull, kFd, kTail };
  static ChildStream Inherit() { return {Kind::kInherit, -1}; }
  static ChildStream Null() { return {Kind::kNull, -1}; }
  // `fd` stays the caller's and must be open until Start returns.
  static ChildStream Fd(int fd) { return {Kind::kFd, fd}; }
  // The last kMaxTailBytes are kept for OutputTail. Not for stdin.
  static ChildStream Tail() { return {Kind::kTail, -1}; }

  Kind kind = Kind::kInherit;
  int fd = -1;
};

// What a child may take. Unset means no limit beyond this process's own.
struct ResourceLimits {
  // RLIMIT_AS. Counts address space, not what is touched; programs built with ASan or TSan reserve
  // terabytes of it and cannot run under one.
  std::optional<int64_t> address_space_bytes;
  // RLIMIT_DATA: memory that it may write to. Files that it maps to read do not count.
  std::optional<int64_t> data_bytes;
  // RLIMIT_CPU, rounded up to seconds: SIGXCPU, and a second later SIGKILL.
  std::optional<absl::Duration> cpu_time;
  std::optional<int64_t> open_files;       // RLIMIT_NOFILE
  std::optional<int64_t> file_size_bytes;  // RLIMIT_FSIZE, each file.
  bool core_dumps = false;
};

struct SubprocessOptions {
  // The program and its arguments; a program without a slash is looked for in $PATH.
  std::vector<std::string> argv;
  // Added to this process's environment, or replacing what is there; without inherit_environment all that it gets.
  std::vector<std::pair<std::string, std::string>> environment;
  bool inherit_environment = true;
  // (Number in the child, at least 3; our descriptor). Ours stay open and stay ours.
  std::vector<std::pair<int, int>> fds;
  ChildStream stdin_stream = ChildStream::Null();
  ChildStream stdout_stream = ChildStream::Inherit();
  ChildStream stderr_stream = ChildStream::Inherit();
  ResourceLimits limits;
  // A group that it is in, with all that it starts, before it has its limits; must outlive it. None: that of this process.
  const ControlGroup* group = nullptr;
  // Its stdin, whatever is said of that above, ends when it has its limits. It must call AwaitLimits (await_limits.h).
  bool waits_for_limits = false;
  // The child learns when this process ends, however it ends. It must call FollowParent (lifeline.h).
  bool follow_parent = false;
};

// How a child ended.
struct ExitStatus {
  int exit_code = 0;  // Meaningful when signal is 0.
  int signal = 0;     // The signal that killed it, or 0.

  bool ok() const { return exit_code == 0 && signal == 0; }
  // "exit code 3" or "killed by signal 11 (SIGSEGV)".
  std::string ToString() const;
};

// A child that was started. Thread-safe. Costs one thread, with ChildStream::Tail two.
class Subprocess {
 public:
  static constexpr size_t kMaxTailBytes = 64 << 10;

  // NOT_FOUND or PERMISSION_DENIED for a program that is not there or not executable;
  // INVALID_ARGUMENT for options that contradict each other; RESOURCE_EXHAUSTED.
  static absl::StatusOr<std::unique_ptr<Subprocess>> Start(const SubprocessOptions& options);

  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;
  // Kills the child if it is still there, and waits for its end.
  ~Subprocess();

  // Valid until the child has ended and Wait or Poll has said so.
  pid_t pid() const { return pid_; }

  // Waits for the end. DEADLINE_EXCEEDED when it does not come in time; the child then goes on.
  absl::StatusOr<ExitStatus> Wait(absl::Duration timeout = absl::InfiniteDuration()) const;
  // The end, if it has come.
  std::optional<ExitStatus> Poll() const;

  // Sends a signal to the child and all of its group; nothing after its end. Do not wait: call Wait.
  void Signal(int signal);
  void Terminate();  // SIGTERM
  void Kill();       // SIGKILL

  // The last kMaxTailBytes that the child has written to its Tail streams so far; complete after Wait.
  std::string OutputTail() const;
  // Tells `take` what is in OutputTail now and from then on all that comes, in its order, one call at a time, on any
  // thread until this is destroyed. It must neither wait nor call this object. At most one follows.
  void FollowOutput(std::function<void(absl::string_view)> take);
  // Returns when all that the child has written to its Tail streams by now is in OutputTail and was told.
  void ReadOutputNow();

 private:
  Subprocess(UniqueFd output, UniqueFd stop_reading, UniqueFd lifeline);
  // Starts the child on the thread that waits for its end.
  absl::Status Run(const SubprocessOptions& options, int output_fd, int lifeline_fd);
  void WaitForEnd(pid_t pid);
  void ReadOutput();
  // Reads some of what is there: as read(2), which leaves errno, but for EINTR.
  ssize_t ReadSome() ABSL_EXCLUSIVE_LOCKS_REQUIRED(output_mutex_);
  absl::string_view Tail() const ABSL_SHARED_LOCKS_REQUIRED(output_mutex_);

  pid_t pid_ = -1;               // Set before Start returns.
  const UniqueFd output_;        // Read end of the Tail pipe; not open without one.
  const UniqueFd stop_reading_;  // An eventfd.
  // Closed, also by this process's death, it tells the child to end.
  const UniqueFd lifeline_;

  mutable absl::Mutex mutex_;
  std::optional<ExitStatus> exit_status_ ABSL_GUARDED_BY(mutex_);
  bool has_child_ ABSL_GUARDED_BY(mutex_) = false;  // Otherwise pid_ may belong to somebody else.

  mutable absl::Mutex output_mutex_;
  std::string tail_ ABSL_GUARDED_BY(output_mutex_);
  std::function<void(absl::string_view)> follower_ ABSL_GUARDED_BY(output_mutex_);

  std::thread waiter_;
  std::thread reader_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_SUBPROCESS_H_
