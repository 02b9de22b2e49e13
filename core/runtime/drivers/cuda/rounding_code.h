// RoundingCode: f32 to f16 or bf16, on the device, for libraries that multiply what lies in 16 bits.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_ROUNDING_CODE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_ROUNDING_CODE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/runtime/drivers/cuda/cuda_api.h"
#include "core/tensor/dtype.h"

namespace slipway {

class CudaDevice;

// Immutable and thread-safe; must not outlive its device.
class RoundingCode {
 public:
  // Devices before sm_80 lack the instructions.
  static constexpr int kLeastCapability = 80;

  // Errors of the driver's compiler. The device's context is current.
  static absl::StatusOr<std::unique_ptr<RoundingCode>> Load(const CudaDevice& device);
  ~RoundingCode();
  RoundingCode(const RoundingCode&) = delete;
  RoundingCode& operator=(const RoundingCode&) = delete;

  // So many elements, to the nearest; both addresses are multiples of 16. REQUIRES: `to_type` is kFloat16 or kBfloat16. The device's context is current.
  absl::Status Issue(CUstream stream, CUdeviceptr from, CUdeviceptr to, int64_t count,
                     DataType to_type) const;

 private:
  explicit RoundingCode(const CudaDevice& device) : device_(device) {}

  const CudaDevice& device_;
  CUmodule module_ = nullptr;
  CUfunction to_float16_ = nullptr;
  CUfunction to_bfloat16_ = nullptr;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_ROUNDING_CODE_H_
