// The driver for the CPU of this machine.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_DRIVER_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_DRIVER_H_

#include <memory>

#include "core/runtime/driver.h"
#include "core/target/target.h"

namespace slipway {

// Refuses programs that `host` cannot run.
std::unique_ptr<Driver> MakeCpuDriver(Target host);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_DRIVER_H_
