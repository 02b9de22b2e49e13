#include "device_agent/accelerators/accelerators.h"

#include <stdio.h>

#include <memory>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "core/base/status_macros.h"
#include "core/base/subprocess.h"
#include "core/runtime/drivers/cuda/cuda_driver.h"
#include "core/runtime/drivers/opencl/opencl_driver.h"
#include "device_agent/accelerators/accelerator_environment.h"
#include "device_agent/accelerators/nvml.h"
#include "device_agent/agent_options.h"

namespace slipway {
namespace {

constexpr absl::Duration kTimeToLook = absl::Seconds(30);

// What a child says, a line each: a device that programs may use, "device TARGET NAME"; and a GPU of the machine, by two of them.
constexpr absl::string_view kDevice = "device ";
constexpr absl::string_view kGpu = "gpu ";
constexpr absl::string_view kState = "state ";

absl::StatusOr<std::vector<std::string>> ListOpenCl() {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<OpenClDeviceName> devices, ListOpenClDevices());
  std::vector<std::string> lines;
  for (const OpenClDeviceName& device : devices) {
    lines.push_back(absl::StrCat(kDevice, "opencl ", device.name, ", driver ", device.driver));
  }
  return lines;
}

absl::StatusOr<std::vector<std::string>> ListCuda() {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<CudaDeviceName> devices, ListCudaDevices());
  std::vector<std::string> lines;
  for (const CudaDeviceName& device : devices) {
    lines.push_back(absl::StrCat(kDevice, "cuda-sm", device.capability, " ", device.name,
                                 ", driver for CUDA ", device.version,
                                 device.libraries.empty() ? "" : ", ", device.libraries));
  }
  // Programs run without it.
  const absl::StatusOr<std::vector<GpuState>> gpus = ReadGpus();
  if (!gpus.ok()) return lines;
  for (const GpuState& gpu : *gpus) {
    lines.push_back(absl::StrCat(kGpu, DescribeGpu(gpu)));
    lines.push_back(absl::StrCat(kState, DescribeGpuState(gpu)));
  }
  return lines;
}

struct Kind {
  absl::string_view name;
  absl::StatusOr<std::vector<std::string>> (*list)();
};

constexpr Kind kKinds[] = {
    {kCudaAccelerator, ListCuda},
    {kOpenClAccelerator, ListOpenCl},
};

absl::StatusOr<std::vector<std::string>> List(absl::string_view kind) {
  for (const Kind& known : kKinds) {
    if (known.name == kind) return known.list();
  }
  return absl::InvalidArgumentError(absl::StrCat("\"", kind, "\" is no kind of accelerator"));
}

}  // namespace

int AcceleratorsMain(int argc, char** argv) {
  const absl::StatusOr<std::vector<std::string>> lines = List(argc == 2 ? argv[1] : "");
  if (!lines.ok()) {
    fprintf(stderr, "%s\n", std::string(lines.status().message()).c_str());
    return 1;
  }
  for (const std::string& line : *lines) printf("%s\n", line.c_str());
  return 0;
}

absl::StatusOr<FoundAccelerator> FindAccelerator(const std::string& kind,
                                                 const std::string& executable,
                                                 const std::string& folder) {
  SubprocessOptions child;
  child.argv = {executable, kAcceleratorsCommand, kind};
  child.inherit_environment = false;
  child.environment = AcceleratorEnvironment();
  for (const char* variable : {"HOME", "POCL_CACHE_DIR", "CUDA_CACHE_PATH", "TMPDIR"}) {
    child.environment.emplace_back(variable, folder);
  }
  child.stdout_stream = ChildStream::Tail();
  child.stderr_stream = ChildStream::Tail();
  const std::string looking = absl::StrCat("looking for devices of ", kind);
  SLIPWAY_ASSIGN_OR_RETURN(const std::unique_ptr<Subprocess> process, Subprocess::Start(child));
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const ExitStatus end, process->Wait(kTimeToLook), looking);
  FoundAccelerator found;
  for (absl::string_view line : absl::StrSplit(process->OutputTail(), '\n')) {
    if (absl::ConsumePrefix(&line, kGpu)) {
      found.inventory.emplace_back(line);
    } else if (absl::ConsumePrefix(&line, kState)) {
      found.states.emplace_back(line);
    } else if (absl::ConsumePrefix(&line, kDevice) && found.target.empty()) {
      found.target = std::string(line.substr(0, line.find(' ')));
      found.name = std::string(absl::StripPrefix(line.substr(found.target.size()), " "));
    }
  }
  if (end.ok() && !found.target.empty()) return found;
  return absl::FailedPreconditionError(
      absl::StrCat(end.exit_code == 1 && end.signal == 0
                       ? ""
                       : absl::StrCat(looking, " ended with ", end.ToString(), ": "),
                   absl::StripAsciiWhitespace(process->OutputTail())));
}

}  // namespace slipway
