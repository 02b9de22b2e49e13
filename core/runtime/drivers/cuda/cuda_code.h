// CudaCode: a module that the driver's compiler has made of PTX, and what is known of its entries.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_CODE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_CODE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/runtime/device.h"
#include "core/runtime/drivers/cuda/cuda_api.h"
#include "core/runtime/drivers/device_entry.h"

namespace slipway {

class CudaDevice;

struct CudaEntry {
  DeviceEntry facts;
  CUfunction function = nullptr;
};

class CudaCode final : public DeviceCode {
 public:
  // What a program may have in bytes of text, and a message in bytes of the compiler's log.
  static constexpr size_t kMaxTextBytes = size_t{64} << 20;
  static constexpr size_t kMaxLogBytes = 4096;

  // The driver keeps what it has compiled. UNIMPLEMENTED for a kind that is no PTX; INVALID_ARGUMENT with the start of the compiler's
  // log, or the entry that the text does not have; FAILED_PRECONDITION for a text that is for later devices than this one, for
  // those of another capability alone ("sm_90a"), or later drivers than this machine's, with both.
  static absl::StatusOr<std::unique_ptr<DeviceCode>> Load(const CudaDevice& device,
                                                          const v1::Code& code,
                                                          absl::string_view text);
  ~CudaCode() override;

  absl::Status CheckArguments(uint32_t kernel, int inputs, int outputs) const override {
    return slipway::CheckArguments(entries_[kernel].facts, inputs, outputs);
  }
  const CudaEntry& entry(uint32_t kernel) const { return entries_[kernel]; }

 private:
  CudaCode(const CudaDevice& device, CUmodule module) : device_(device), module_(module) {}

  const CudaDevice& device_;
  const CUmodule module_;
  std::vector<CudaEntry> entries_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_CODE_H_
