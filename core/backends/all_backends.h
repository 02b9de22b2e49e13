// The list of all backends.
#ifndef SLIPWAY_CORE_BACKENDS_ALL_BACKENDS_H_
#define SLIPWAY_CORE_BACKENDS_ALL_BACKENDS_H_

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

// The fingerprints of all backends, in lines: everything about them that changes what they make.
absl::StatusOr<std::string> AllBackendFingerprints();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_ALL_BACKENDS_H_
