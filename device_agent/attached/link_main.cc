#include "device_agent/attached/link_main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/base/subprocess.h"
#include "device_agent/attached/attached_device.h"
#include "device_agent/attached/link_arguments.h"
#include "device_agent/runner/runner_commands.h"
#include "device_agent/runner/runner_window.h"

namespace slipway {
namespace {

// To reach the device, and to bring the bare runner there.
constexpr absl::Duration kTimeToStart = absl::Minutes(10);

// Tensors lie in this process as well as there, and its limit is the same. The command has none.
absl::Status LimitMemory(int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  const auto most = static_cast<rlim_t>(bytes);
  const rlimit limit = {.rlim_cur = most, .rlim_max = most};
  return setrlimit(RLIMIT_AS, &limit) == 0
             ? absl::OkStatus()
             : ErrnoStatus(errno, "cannot limit the memory of an attached device's runner");
}

// The command stays a child of this process, whatever it becomes.
absl::Status BecomeRunner(const LinkArguments& arguments, const DeviceCommand& device) {
  SLIPWAY_RETURN_IF_ERROR(LimitMemory(arguments.memory_bytes));
  // It closes by itself when this becomes another program, unless it is handed on; a descriptor that is its own copy would not be.
  const int stream = device.stream.get();
  if ((stream == kAttachedStream ? fcntl(stream, F_SETFD, 0) : dup2(stream, kAttachedStream)) < 0) {
    return ErrnoStatus(errno, "cannot hand the device's stream on");
  }
  std::vector<std::string> words = {
      kOwnExecutable, kAttachedRunnerCommand, arguments.cache_folder, arguments.log_level,
      arguments.require_confinement ? kConfinedWholly : kConfinedAsCan};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  return ErrnoStatus(errno, "cannot become the runner of an attached device");
}

absl::Status Link(const LinkArguments& arguments) {
  SLIPWAY_ASSIGN_OR_RETURN(
      const DeviceCommand device,
      StartOnDevice(arguments.device,
                    {.require_confinement = arguments.require_confinement,
                     .memory_bytes = arguments.memory_bytes},
                    ChildStream::Inherit(), SystemClock().Monotonic() + kTimeToStart));
  return BecomeRunner(arguments, device);
}

}  // namespace

int LinkMain(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);
  const absl::StatusOr<LinkArguments> arguments =
      ParseLinkArguments(std::vector<std::string>(argv + 1, argv + argc));
  const absl::Status status = arguments.ok() ? Link(*arguments) : arguments.status();
  // Where it cannot be reached, the command has said more than this process knows.
  if (!absl::IsUnavailable(status)) {
    fprintf(stderr, "\n%s\n", std::string(status.message()).c_str());
  }
  const absl::StatusOr<std::unique_ptr<RunnerWindow>> window = RunnerWindow::Map(kRunnerWindow);
  if (window.ok()) (*window)->status().lost = static_cast<int32_t>(status.code());
  return 1;
}

}  // namespace slipway
