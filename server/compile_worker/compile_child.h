// CompileChild: the worker's side of a compile child: starts it, limits it, and makes of any end a typed result.
#ifndef SLIPWAY_SERVER_COMPILE_WORKER_COMPILE_CHILD_H_
#define SLIPWAY_SERVER_COMPILE_WORKER_COMPILE_CHILD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/control_group.h"
#include "core/base/files.h"
#include "core/base/subprocess.h"
#include "proto/slipway/v1/job.pb.h"
#include "server/compile_worker/child_main.h"
#include "server/compile_worker/compile_child.pb.h"

namespace slipway::worker {

// How a child ended without an artifact.
struct ChildFailure {
  v1::JobError error;
  bool retriable = false;
};

// What the names of children's folders, in the one for temporary files, begin with.
inline constexpr char kFolderPrefix[] = "slipway-compile";

class CompileChild {
 public:
  struct Options {
    std::vector<std::string> command = {kOwnExecutable};  // The subcommand and folder are added.
    absl::Duration deadline;
    // That it may write to (ResourceLimits::data_bytes); 0: no limit. The model's files are mapped and do not count.
    int64_t memory_bytes = 0;
    // Where groups are made for children: what a child starts counts towards its memory and tasks then, too.
    const ControlGroups* groups = nullptr;
    std::string vmstat = "/proc/vmstat";  // As of OutOfMemoryKills.
  };
  // Starts the child. Errors of the files and of Subprocess::Start; another attempt may succeed.
  static absl::StatusOr<std::unique_ptr<CompileChild>> Start(const Options& options,
                                                             const CompileChildRequest& request);

  // Follows the child to its end: the artifact, or why there is none. Call once, while another thread may Kill.
  absl::StatusOr<CompileChildResponse::Made> Wait(const ReportProgress& progress,
                                                  ChildFailure* failure);

  // Ends it. Thread-safe.
  void Kill() { process_->Kill(); }

 private:
  CompileChild(const Options& options, TemporaryFolder folder, UniqueFd hold, UniqueFd progress,
               std::unique_ptr<ControlGroup> group, std::unique_ptr<Subprocess> process);

  bool FollowProgress(const ReportProgress& progress);
  bool HasGroupOutOfMemory() const;
  ChildFailure Explain(const ExitStatus& end, bool in_time) const;

  const Options options_;
  const absl::Duration begin_;  // Monotonic.
  const int64_t kills_before_;  // OutOfMemoryKills.
  const TemporaryFolder folder_;
  const UniqueFd hold_;  // HoldFolder(folder_).
  const UniqueFd progress_;
  const std::unique_ptr<ControlGroup> group_;  // nullptr where none can be made.
  const std::unique_ptr<Subprocess> process_;
};

}  // namespace slipway::worker

#endif  // SLIPWAY_SERVER_COMPILE_WORKER_COMPILE_CHILD_H_
