// ConvertingCode: tensors in another form, on the device, for libraries that take them in no other: rounded from f32 to 16 bits, or with other indices innermost.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CONVERTING_CODE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CONVERTING_CODE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/runtime/drivers/cuda/cuda_api.h"
#include "core/tensor/dtype.h"

namespace slipway {

class CudaDevice;

// Immutable and thread-safe; must not outlive its device.
class ConvertingCode {
 public:
  // Devices before sm_80 lack the instructions.
  static constexpr int kLeastCapability = 80;

  // PTX, of which NVIDIA's driver makes code.
  static std::string Text();
  // Errors of the driver's compiler. The device's context is current.
  static absl::StatusOr<std::unique_ptr<ConvertingCode>> Load(const CudaDevice& device);
  ~ConvertingCode();
  ConvertingCode(const ConvertingCode&) = delete;
  ConvertingCode& operator=(const ConvertingCode&) = delete;

  // So many elements of f32, to the nearest; both addresses are multiples of 16. REQUIRES: `to_type` is kFloat16 or kBfloat16. The device's context is current.
  absl::Status Round(CUstream stream, CUdeviceptr from, CUdeviceptr to, int64_t count,
                     DataType to_type) const;

  // [batch, rows, columns] of f32 as [batch, columns, rows], rounded to the nearest where `to_type` is kFloat16 or kBfloat16, else it is kFloat32. REQUIRES:
  // CanTranspose. The device's context is current.
  absl::Status Transpose(CUstream stream, CUdeviceptr from, CUdeviceptr to, int64_t batch,
                         int64_t rows, int64_t columns, DataType to_type) const;
  // Whether one launch has groups for all of it.
  static bool CanTranspose(int64_t batch, int64_t rows, int64_t columns);

 private:
  explicit ConvertingCode(const CudaDevice& device) : device_(device) {}

  const CudaDevice& device_;
  CUmodule module_ = nullptr;
  // By type: f32, f16, bf16. None rounds to f32.
  std::array<CUfunction, 3> round_ = {};
  std::array<CUfunction, 3> transpose_ = {};
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CONVERTING_CODE_H_
