// Where a program's steps are made by a library of the device's vendor.
#ifndef SLIPWAY_CORE_RUNTIME_CHOOSE_LIBRARIES_H_
#define SLIPWAY_CORE_RUNTIME_CHOOSE_LIBRARIES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/artifact/artifact.h"
#include "core/artifact/vendor_step.h"
#include "core/runtime/library_choice.h"
#include "core/runtime/vendor_library.h"

namespace slipway {

class ResidentProgram;

// What a library could make.
struct ChosenStep {
  VendorStep step;
  std::string library;  // VendorLibrary::name.
  StepTimes times;
  std::unique_ptr<LibraryWay> way;  // That makes it; null where the program's own launches do.
};

// Of each step that the artifact describes and for which the device has a library: the times that are kept, or, where there are none, measured now and kept
// (measure_step.h). Equal steps are measured once. What goes wrong with a library leaves the step to the program's launches, with a warning in the
// log; errors are those of the device. REQUIRES: code and constants are loaded.
absl::StatusOr<std::vector<ChosenStep>> ChooseLibraries(const Artifact& artifact,
                                                        const ResidentProgram& program);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_CHOOSE_LIBRARIES_H_
