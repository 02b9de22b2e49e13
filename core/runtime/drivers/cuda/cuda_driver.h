// The driver for NVIDIA's GPUs.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_DRIVER_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_DRIVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/runtime/driver.h"
#include "core/runtime/drivers/cuda/cuda_vendor_library.h"

namespace slipway {

struct CudaDriverOptions {
  // Not empty: no device is opened, and this says why.
  std::string refusal;
  // Whether work that comes again is given to the driver as a graph (cuda_graphs.h), where its version has them.
  bool graphs = true;
  // Which of NVIDIA's libraries programs may use beside their own code.
  VendorLibraries libraries = {};
};

// Looks for nothing before it is asked for a device, or whether a program runs on one. Devices are numbered as the driver's library numbers them, which $CUDA_VISIBLE_DEVICES
// and $CUDA_DEVICE_ORDER change.
std::unique_ptr<Driver> MakeCudaDriver(CudaDriverOptions options = {});

// What is known of a device without opening it.
struct CudaDeviceName {
  std::string name;
  int capability = 0;   // 90 for 9.0.
  std::string version;  // Of CUDA, as the driver knows it: "12.4".
  int multiprocessors = 0;
  int64_t l2_bytes = 0;  // 0 where it has none.
  // Of NVIDIA's that programs may use: "cublasLt 12.4.5, cudnn 9.8.0"; empty where there are none.
  std::string libraries;
};

// The devices that MakeCudaDriver numbers, in its order. FAILED_PRECONDITION says why there is none.
absl::StatusOr<std::vector<CudaDeviceName>> ListCudaDevices();

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_DRIVER_H_
