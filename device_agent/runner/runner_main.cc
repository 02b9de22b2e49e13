#include "device_agent/runner/runner_main.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/await_limits.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/kept_memory.h"
#include "core/base/log.h"
#include "core/base/out_of_memory.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"
#include "core/confinement/confinement.h"
#include "core/confinement/profiles.h"
#include "core/runtime/drivers/cuda/cuda_peaks.h"
#include "core/runtime/load_program.h"
#include "core/runtime/vendor_library.h"
#include "core/store/file_blob_store.h"
#include "core/store/file_names.h"
#include "device_agent/accelerators/accelerator_states.h"
#include "device_agent/attached/attached_place.h"
#include "device_agent/measure/accelerator_watch.h"
#include "device_agent/measure/attached_machine.h"
#include "device_agent/runner/frame.h"
#include "device_agent/runner/runner.pb.h"
#include "device_agent/runner/runner_commands.h"
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

struct RunnerArguments {
  std::string cache_folder;
  LogLevel log_level = LogLevel::kWarning;
  bool must_be_whole = false;
  std::string accelerator_folder;  // Empty: none is used.
  LibraryUse vendor_libraries = LibraryUse::kNever;
  bool is_attached = false;  // Its programs run on an attached device.
};

absl::StatusOr<RunnerArguments> ParseArguments(int argc, char** argv) {
  const bool is_complete = argc == 4 || argc == 6;
  const absl::string_view confined = is_complete ? argv[3] : "";
  const absl::StatusOr<LogLevel> level = ParseLogLevel(is_complete ? argv[2] : "");
  const std::optional<LibraryUse> libraries = FindLibraryUse(argc == 6 ? argv[5] : "never");
  if (!level.ok() || !libraries.has_value() ||
      (confined != kConfinedAsCan && confined != kConfinedWholly)) {
    return absl::InvalidArgumentError(
        absl::StrCat("usage: slipway-agent ", argv[0], " CACHE_FOLDER LOG_LEVEL ", kConfinedAsCan,
                     "|", kConfinedWholly, " [ACCELERATOR_FOLDER VENDOR_LIBRARIES]"));
  }
  return RunnerArguments{argv[1],
                         *level,
                         confined == kConfinedWholly,
                         argc == 6 ? argv[4] : "",
                         *libraries,
                         absl::string_view(argv[0]) == kAttachedRunnerCommand};
}

// What is missing, the agent has found out and told when it started.
absl::Status Confine(const RunnerArguments& arguments) {
  tzset();  // A log line must not look for the time zone later.
  const std::string blobs = BlobsFolder(arguments.cache_folder);
  SLIPWAY_ASSIGN_OR_RETURN(
      const MissingParts missing,
      ApplyConfinement(arguments.accelerator_folder.empty()
                           ? RunnerConfinement(blobs)
                           : AcceleratorConfinement(blobs, arguments.accelerator_folder)));
  return arguments.must_be_whole ? RequireWhole("the runner", missing) : absl::OkStatus();
}

// Vendors' libraries keep files of their own, and find the places by variables.
absl::StatusOr<DriverSettings> PrepareAccelerators(const std::string& folder,
                                                   LibraryUse libraries) {
  if (folder.empty()) {
    return DriverSettings{.accelerator_refusal =
                              "programs of this agent are confined to the processor: only with "
                              "--accelerator does it let them use others"};
  }
  const std::string own = JoinPath(folder, "vendor");
  SLIPWAY_RETURN_IF_ERROR(MakeOwnFolder(own));
  for (const char* variable : {"POCL_CACHE_DIR", "CUDA_CACHE_PATH", "HOME", "TMPDIR"}) {
    setenv(variable, own.c_str(), 1);
  }
  setenv("PATH", "/usr/bin:/bin", 1);
  return DriverSettings{.opencl_cache_folder = JoinPath(folder, "opencl"),
                        .libraries = libraries,
                        .library_times_file = JoinPath(folder, "library_times")};
}

absl::StatusOr<AcceleratorPeaks> MeasureGpu(int number) {
  return MeasureCudaPeaks(number, SystemClock());
}

absl::Status Serve(const RunnerArguments& arguments) {
  FileBlobStore::Options options;
  options.folder = arguments.cache_folder;
  options.durable = false;
  options.notes_uses = false;  // The agent does, and has verified what it hands out.
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<FileBlobStore> store,
                           FileBlobStore::Create(options));
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<RunnerWindow> window,
                           RunnerWindow::Map(kRunnerWindow));
  // Of another user, whom it may become, the agent may set none.
  AwaitLimits();
  SLIPWAY_ASSIGN_OR_RETURN(
      const DriverSettings drivers,
      PrepareAccelerators(arguments.accelerator_folder, arguments.vendor_libraries));
  SLIPWAY_RETURN_IF_ERROR(Confine(arguments));
  AttachedPlace attached;
  if (arguments.is_attached) {
    SLIPWAY_ASSIGN_OR_RETURN(attached, TakeAttachedPlace(*window));
  }
  std::optional<AttachedMachine> machine;
  if (arguments.is_attached) machine = attached.machine;
  RunnerService service(*store, *window,
                        arguments.is_attached ? std::move(attached.drivers) : AllDrivers(drivers),
                        std::move(machine),
                        drivers.accelerator_refusal.empty()
                            ? AcceleratorLooks{AddAcceleratorStates, WatchAccelerators, MeasureGpu}
                            : AcceleratorLooks{});
  FrameReader reader(kRunnerSocket);
  while (true) {
    if (arguments.is_attached && !reader.HasFrame()) {
      AwaitRequest(kRunnerSocket, *attached.stream);
    }
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
  // The agent's end is its own from here on, and not only once it is confined: what it makes in the cache before would be
  // left behind.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const absl::StatusOr<RunnerArguments> arguments = ParseArguments(argc, argv);
  InitLog("slipway-agent runner", arguments.ok() ? arguments->log_level : LogLevel::kWarning);
  ExitWhenOutOfMemory();
  KeepFreedMemory();
  // Every arena of malloc reserves 64 MiB of the address space, which is limited.
  mallopt(M_ARENA_MAX, 1);
  OfferToBeKilled();
  const absl::Status status = arguments.ok() ? Serve(*arguments) : arguments.status();
  if (status.ok()) return 0;
  Log(LogLevel::kError, "the runner ends", {{"error", status.ToString()}});
  return 1;
}

}  // namespace slipway
