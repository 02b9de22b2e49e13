// LoadProgram: from an artifact to a program, by the driver for its devices.
#ifndef SLIPWAY_CORE_RUNTIME_LOAD_PROGRAM_H_
#define SLIPWAY_CORE_RUNTIME_LOAD_PROGRAM_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/artifact/artifact.h"
#include "core/runtime/driver.h"
#include "core/runtime/program.h"

namespace slipway {

// Every driver there is, in the order in which they are looked at. A new one is added here and in a
// folder of its own.
std::vector<std::unique_ptr<Driver>> AllDrivers();

// Loads for the machine this runs on. UNIMPLEMENTED names the driver that is lacking; errors of
// Driver::Load.
absl::StatusOr<std::unique_ptr<Program>> LoadProgram(const Artifact& artifact);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_LOAD_PROGRAM_H_
