// LoadProgram: from an artifact to a program, by the drivers for its devices.
#ifndef SLIPWAY_CORE_RUNTIME_LOAD_PROGRAM_H_
#define SLIPWAY_CORE_RUNTIME_LOAD_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/artifact/artifact.h"
#include "core/artifact/checked_manifest.h"
#include "core/runtime/device.h"
#include "core/runtime/driver.h"
#include "core/runtime/program.h"
#include "core/runtime/vendor_library.h"

namespace slipway {

using Drivers = std::vector<std::unique_ptr<Driver>>;

// What drivers are told of where they run.
struct DriverSettings {
  // Where the OpenCL driver keeps what it has built (OpenClDriverOptions); empty: nowhere.
  std::string opencl_cache_folder;
  // Not empty: of devices that are no host none is opened, and this says why.
  std::string accelerator_refusal;
  // As CudaDriverOptions::graphs.
  bool cuda_graphs = true;
  // When steps are made by a library of the device's vendor, and a file that keeps what was measured; empty: nothing is kept.
  LibraryUse libraries = LibraryUse::kNever;
  std::string library_times_file;
};

// Every driver there is for the machine this runs on, in the order in which they are looked at. A new one is
// added here and in a folder of its own.
Drivers AllDrivers(const DriverSettings& settings = {});

// Opens the devices of a manifest, in its order, each by the first driver that drives its kind. UNIMPLEMENTED
// names the device that none drives; errors of Driver::Supports and Driver::Open.
absl::StatusOr<std::vector<std::shared_ptr<ComputeDevice>>> OpenDevices(
    const CheckedManifest& manifest, const Drivers& drivers);

// OpenDevices and Program::Load.
absl::StatusOr<std::unique_ptr<Program>> LoadProgram(const Artifact& artifact,
                                                     const Drivers& drivers);

// The same for the machine this runs on.
absl::StatusOr<std::unique_ptr<Program>> LoadProgram(const Artifact& artifact,
                                                     const DriverSettings& settings = {});

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_LOAD_PROGRAM_H_
