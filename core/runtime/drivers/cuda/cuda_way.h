// CudaWay: a step of a program by one of NVIDIA's libraries.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_WAY_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_WAY_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "core/runtime/drivers/cuda/cuda_api.h"
#include "core/runtime/vendor_library.h"

namespace slipway {

class CudaDevice;

// A step's addresses on the device, each a multiple of CudaWay::kAlignment; 0 for what it does not have.
struct CudaWayAddresses {
  std::array<CUdeviceptr, 2> factors = {};  // As VendorStep::factors.
  CUdeviceptr result = 0;
  CUdeviceptr bias = 0;
  CUdeviceptr added = 0;
  CUdeviceptr workspace = 0;
};

class CudaWay : public LibraryWay {
 public:
  static constexpr uint32_t kAlignment = 64;

  // What it has beside the step's tensors.
  virtual int64_t workspace_bytes() const = 0;
  // Gives it to the stream, which may capture. The workspace has workspace_bytes(), and is the stream's. The device's context is current.
  virtual absl::Status Issue(const CudaDevice& device, CUstream stream,
                             const CudaWayAddresses& addresses) const = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_WAY_H_
