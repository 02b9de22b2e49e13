// The driver for devices that a bare runner holds (core/bare_runner).
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_ATTACHED_DRIVER_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_ATTACHED_DRIVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "core/runtime/driver.h"
#include "core/runtime/drivers/attached/bare_stream.h"
#include "core/target/target.h"

namespace slipway {

// What it runs. UNIMPLEMENTED for a machine that this agent has no code for.
absl::StatusOr<Target> TargetOfBare(const slipway_bare_hello& hello);

// Drives processors, by the one at the other end of the stream: in place of the driver for this machine's own. Programs for several devices
// are UNIMPLEMENTED there. Errors of TargetOfBare.
absl::StatusOr<std::unique_ptr<Driver>> MakeAttachedDriver(std::shared_ptr<BareStream> stream,
                                                           const slipway_bare_hello& hello);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_ATTACHED_DRIVER_H_
