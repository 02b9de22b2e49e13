#include "device_agent/accelerators.h"

#include <stdio.h>

#include <memory>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "core/base/status_macros.h"
#include "core/base/subprocess.h"
#include "core/runtime/drivers/opencl/opencl_driver.h"

namespace slipway {
namespace {

constexpr absl::Duration kTimeToLook = absl::Seconds(30);

}  // namespace

int AcceleratorsMain(int /*argc*/, char** /*argv*/) {
  const absl::StatusOr<std::vector<OpenClDeviceName>> devices = ListOpenClDevices();
  if (!devices.ok()) {
    fprintf(stderr, "%s\n", std::string(devices.status().message()).c_str());
    return 1;
  }
  for (const OpenClDeviceName& device : *devices) {
    printf("%s, driver %s\n", device.name.c_str(), device.driver.c_str());
  }
  return 0;
}

absl::StatusOr<std::string> FindOpenClDevice(const std::string& executable,
                                             const std::string& folder) {
  SubprocessOptions child;
  child.argv = {executable, kAcceleratorsCommand};
  child.inherit_environment = false;
  child.environment = {{"HOME", folder}, {"POCL_CACHE_DIR", folder}, {"TMPDIR", folder}};
  child.stdout_stream = ChildStream::Tail();
  child.stderr_stream = ChildStream::Tail();
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Subprocess> process, Subprocess::Start(child));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const ExitStatus end, process->Wait(kTimeToLook),
                                "looking for devices of OpenCL");
  const std::vector<std::string> lines = absl::StrSplit(process->OutputTail(), '\n');
  if (end.ok() && !lines.front().empty()) return lines.front();
  return absl::FailedPreconditionError(absl::StrCat(
      end.exit_code == 1 && end.signal == 0
          ? ""
          : absl::StrCat("looking for devices of OpenCL ended with ", end.ToString(), ": "),
      absl::StripAsciiWhitespace(process->OutputTail())));
}

}  // namespace slipway
