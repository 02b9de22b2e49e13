#include "core/runtime/load_program.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cpu/cpu_driver.h"
#include "core/runtime/drivers/cuda/cuda_driver.h"
#include "core/runtime/drivers/opencl/opencl_driver.h"
#include "core/target/target.h"

namespace slipway {

Drivers AllDrivers(const DriverSettings& settings) {
  Drivers drivers;
  drivers.push_back(MakeCpuDriver(HostTarget()));
  drivers.push_back(MakeOpenClDriver(
      {.cache_folder = settings.opencl_cache_folder, .refusal = settings.accelerator_refusal}));
  drivers.push_back(MakeCudaDriver(
      {.refusal = settings.accelerator_refusal,
       .graphs = settings.cuda_graphs,
       .libraries = {.use = settings.libraries, .kept_times = settings.library_times_file}}));
  return drivers;
}

absl::StatusOr<std::vector<std::shared_ptr<ComputeDevice>>> OpenDevices(
    const CheckedManifest& manifest, const Drivers& drivers) {
  const Target& target = manifest.target();
  absl::flat_hash_map<const Driver*, int> opened;
  std::vector<std::shared_ptr<ComputeDevice>> devices;
  for (size_t i = 0; i < target.devices.size(); ++i) {
    const auto driver = std::find_if(
        drivers.begin(), drivers.end(),
        [&](const std::unique_ptr<Driver>& each) { return each->Drives(target.devices[i]); });
    if (driver == drivers.end()) {
      return absl::UnimplementedError(absl::StrCat("no driver for device ", i, " '",
                                                   target.devices[i].ToString(),
                                                   "': this runtime has none yet"));
    }
    SLIPWAY_RETURN_IF_ERROR((*driver)->Supports(manifest, static_cast<uint32_t>(i)));
    SLIPWAY_ASSIGN_OR_RETURN(std::shared_ptr<ComputeDevice> device,
                             (*driver)->Open(opened[driver->get()]++));
    devices.push_back(std::move(device));
  }
  return devices;
}

absl::StatusOr<std::unique_ptr<Program>> LoadProgram(const Artifact& artifact,
                                                     const Drivers& drivers) {
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<std::shared_ptr<ComputeDevice>> devices,
                           OpenDevices(artifact.manifest(), drivers));
  return Program::Load(artifact, std::move(devices));
}

absl::StatusOr<std::unique_ptr<Program>> LoadProgram(const Artifact& artifact,
                                                     const DriverSettings& settings) {
  return LoadProgram(artifact, AllDrivers(settings));
}

}  // namespace slipway
