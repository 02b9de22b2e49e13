// The driver for null devices.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_NULL_NULL_DRIVER_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_NULL_NULL_DRIVER_H_

#include <memory>

#include "core/runtime/driver.h"
#include "core/runtime/drivers/null/null_device.h"

namespace slipway {

// Drives GPUs of every kind by devices that only seem to be some (NullDevice): whoever wants that puts this driver
// into a list of his own; it is in none that serves users.
std::unique_ptr<Driver> MakeNullDriver(const NullDeviceOptions& options = {});

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_NULL_NULL_DRIVER_H_
