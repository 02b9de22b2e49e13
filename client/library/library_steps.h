// The functions of a program as one list of steps: bodies stand where they are run, over the memory of who runs them.
#ifndef SLIPWAY_CLIENT_LIBRARY_LIBRARY_STEPS_H_
#define SLIPWAY_CLIENT_LIBRARY_LIBRARY_STEPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "client/library/library_plan.h"
#include "client/library/library_values.h"
#include "core/artifact/checked_manifest.h"

namespace slipway {

// The steps of the entry, whose inputs and outputs have places in `values`. Those of bodies get theirs: what is handed on lies where it
// is, and a carried value in the result that it becomes, so that nothing is moved twice. UNIMPLEMENTED names a step that libraries do not
// have; INVALID_ARGUMENT one that cannot be followed.
absl::StatusOr<std::vector<LibraryStep>> ListSteps(const CheckedManifest& manifest,
                                                   LibraryValues& values);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_LIBRARY_LIBRARY_STEPS_H_
