// The list of all backends.
#ifndef SLIPWAY_CORE_BACKENDS_ALL_BACKENDS_H_
#define SLIPWAY_CORE_BACKENDS_ALL_BACKENDS_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/backends/backend_environment.h"
#include "core/backends/target_backend.h"
#include "core/target/target.h"

namespace slipway {

// The first backend that compiles for the target. UNIMPLEMENTED gives each one's reason not to.
absl::StatusOr<std::unique_ptr<TargetBackend>> BackendFor(const Target& target,
                                                          const BackendEnvironment& environment);

// By family of targets (FamilyOf) that there is a backend for: everything about the backend that changes what
// it makes for them, in lines.
absl::StatusOr<std::map<std::string, std::string>> BackendFingerprints();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_ALL_BACKENDS_H_
