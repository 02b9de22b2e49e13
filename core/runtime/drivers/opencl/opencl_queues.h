// OpenClQueues: the command queues of one program context on an OpenCL device.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_QUEUES_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_QUEUES_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/device.h"
#include "core/runtime/drivers/opencl/opencl_library.h"

namespace slipway {

class OpenClDevice;

// What was queued and may still fail.
struct OpenClPending {
  cl_event event = nullptr;
  std::shared_ptr<const std::string> label;
};

class OpenClQueues final : public DeviceQueues {
 public:
  explicit OpenClQueues(OpenClDevice& device) : device_(device) {}
  ~OpenClQueues() override;

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
  // The queue, made when it is first used.
  absl::StatusOr<cl_command_queue> At(uint32_t queue);
  absl::Status Remember(cl_event event, std::shared_ptr<const std::string> label);

  OpenClDevice& device_;
  const std::shared_ptr<const std::string> copy_label_ =
      std::make_shared<const std::string>("copy");
  std::array<cl_command_queue, kQueues> queues_ = {};
  std::vector<OpenClPending> pending_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_QUEUES_H_
