// CudaQueues: the streams of one program context on a CUDA device.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_QUEUES_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_QUEUES_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "core/runtime/device.h"
#include "core/runtime/drivers/cuda/cuda_api.h"

namespace slipway {

class CudaDevice;

class CudaQueues final : public DeviceQueues {
 public:
  explicit CudaQueues(CudaDevice& device) : device_(device) {}
  ~CudaQueues() override;

  absl::StatusOr<std::unique_ptr<DeviceLaunch>> Prepare(const DeviceCode& code, uint32_t kernel,
                                                        absl::Span<slipway_buffer* const> arguments,
                                                        std::string label) override;
  absl::Status Launch(uint32_t queue, DeviceLaunch& launch, const LaunchSizes& sizes) override;
  absl::Status Copy(uint32_t queue, const MemoryPlace& from, const MemoryPlace& to,
                    int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() override;
  absl::Status Record(uint32_t queue, DeviceEvent& event) override;
  absl::Status Wait(uint32_t queue, DeviceEvent& event) override;
  absl::Status Finish() override;

 private:
  // The stream, made when it is first used. The context is current.
  absl::StatusOr<CUstream> At(uint32_t queue);
  // What was launched since the last Finish, for messages: a stream does not say which launch failed.
  std::string Launched() const;

  CudaDevice& device_;
  std::array<CUstream, kQueues> streams_ = {};
  int64_t launched_ = 0;
  std::shared_ptr<const std::string> first_;
  std::shared_ptr<const std::string> last_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_CUDA_QUEUES_H_
