#include "device_agent/runner/runner_main.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/files.h"
#include "core/base/kept_memory.h"
#include "core/base/lifeline.h"
#include "core/base/log.h"
#include "core/base/out_of_memory.h"
#include "core/store/file_blob_store.h"
#include "device_agent/runner/frame.h"
#include "device_agent/runner/runner.pb.h"
#include "device_agent/runner/runner_service.h"
#include "device_agent/runner/runner_window.h"

namespace slipway {
namespace {

// When the machine is out of memory, the system shall end the program before it ends the agent, or
// somebody else. Advice: where it cannot be given, the limit on memory is left.
void OfferToBeKilled() {
  const UniqueFd file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (!file.is_open() || write(file.get(), "1000", 4) != 4) {
    Log(LogLevel::kDebug, "cannot set the runner's oom_score_adj");
  }
}

absl::Status Serve(const char* cache_folder) {
  FileBlobStore::Options options;
  options.folder = cache_folder;
  options.durable = false;
  options.notes_uses = false;  // The agent does, and has verified what it hands out.
  absl::StatusOr<std::unique_ptr<FileBlobStore>> store = FileBlobStore::Create(options);
  if (!store.ok()) return store.status();
  absl::StatusOr<std::unique_ptr<RunnerWindow>> window = RunnerWindow::Map(kRunnerWindow);
  if (!window.ok()) return window.status();
  RunnerService service(**store, **window);
  FrameReader reader(kRunnerSocket);
  while (true) {
    runner::Request request;
    absl::Status status = reader.Read(request, absl::InfiniteDuration());
    if (absl::IsUnavailable(status)) return absl::OkStatus();
    if (!status.ok()) return status;
    // Each by itself: what was done must be told before the next request ends this process.
    status = WriteFrame(kRunnerSocket, service.Handle(request), absl::InfiniteDuration());
    if (!status.ok()) return status;
  }
}

}  // namespace

int RunnerMain(int argc, char** argv) {
  const absl::StatusOr<LogLevel> level = ParseLogLevel(argc == 3 ? argv[2] : "");
  InitLog("slipway-agent runner", level.value_or(LogLevel::kWarning));
  ExitWhenOutOfMemory();
  KeepFreedMemory();
  // Every arena of malloc reserves 64 MiB of the address space, which is limited.
  mallopt(M_ARENA_MAX, 1);
  OfferToBeKilled();
  absl::Status status = FollowParent();
  if (status.ok() && !level.ok()) {
    status = absl::InvalidArgumentError("usage: slipway-agent runner CACHE_FOLDER LOG_LEVEL");
  }
  if (status.ok()) status = Serve(argv[1]);
  if (status.ok()) return 0;
  Log(LogLevel::kError, "the runner ends", {{"error", status.ToString()}});
  return 1;
}

}  // namespace slipway
