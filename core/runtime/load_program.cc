#include "core/runtime/load_program.h"

#include "absl/strings/str_cat.h"
#include "core/runtime/drivers/cpu/cpu_driver.h"
#include "core/target/target.h"

namespace slipway {
namespace {

absl::string_view DriverFor(const DeviceTarget& device) {
  switch (device.arch) {
    case Arch::kCuda:
      return "cuda";
    case Arch::kOpenCl:
      return "opencl";
    default:
      return "cpu";
  }
}

}  // namespace

std::vector<std::unique_ptr<Driver>> AllDrivers() {
  std::vector<std::unique_ptr<Driver>> drivers;
  drivers.push_back(MakeCpuDriver(HostTarget()));
  return drivers;
}

absl::StatusOr<std::unique_ptr<Program>> LoadProgram(const Artifact& artifact) {
  const Target& target = artifact.manifest().target();
  // Drivers for further devices work beside the host's; the last device decides.
  const absl::string_view name = DriverFor(target.devices.back());
  for (const std::unique_ptr<Driver>& driver : AllDrivers()) {
    if (driver->name() == name) return driver->Load(artifact);
  }
  return absl::UnimplementedError(absl::StrCat("no driver '", name, "' for '",
                                               target.devices.back().ToString(),
                                               "': this runtime has none yet"));
}

}  // namespace slipway
