// The driver for devices of OpenCL.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_DRIVER_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_DRIVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/runtime/driver.h"

namespace slipway {

struct OpenClDriverOptions {
  // Where programs are kept as the devices' compilers built them; empty: nowhere. Made if it is not there; its user's alone.
  std::string cache_folder;
  // Not empty: no device is opened, and this says why.
  std::string refusal;
};

// Looks for nothing before a device is opened. Devices are numbered with those first that are no CPU, platforms in the
// loader's order; those that lack something (opencl_device.h) are left out, and named where none is left.
std::unique_ptr<Driver> MakeOpenClDriver(OpenClDriverOptions options = {});

// What is known of a device without opening it.
struct OpenClDeviceName {
  std::string name;
  std::string driver;
  bool is_cpu = false;
};

// The devices that MakeOpenClDriver numbers, in its order. FAILED_PRECONDITION says why there is none.
absl::StatusOr<std::vector<OpenClDeviceName>> ListOpenClDevices();

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_DRIVER_H_
