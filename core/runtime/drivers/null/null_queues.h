// NullQueues: work that is done when somebody waits for it.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_NULL_NULL_QUEUES_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_NULL_NULL_QUEUES_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/device.h"
#include "core/runtime/drivers/null/null_device.h"

namespace slipway {

class NullQueues final : public DeviceQueues {
 public:
  explicit NullQueues(NullDevice& device) : device_(device) {}
  ~NullQueues() override { Finish().IgnoreError(); }

  absl::StatusOr<std::unique_ptr<DeviceLaunch>> Prepare(const DeviceCode& code, uint32_t kernel,
                                                        absl::Span<slipway_buffer* const> arguments,
                                                        std::string label) override;
  absl::Status Launch(uint32_t queue, DeviceLaunch& launch, const LaunchSizes& sizes) override;
  absl::Status Copy(uint32_t queue, const MemoryPlace& from, const MemoryPlace& to,
                    int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() override;
  absl::Status Record(uint32_t queue, DeviceEvent& event) override;
  absl::Status Wait(uint32_t queue, DeviceEvent& event) override;
  // Forgets the error that it gives.
  absl::Status Finish() override;

  // Does the first `count` pieces of work a queue ever got.
  absl::Status RunUntil(uint32_t queue, uint64_t count);

 private:
  using Work = std::function<absl::Status()>;
  struct Queue {
    std::deque<Work> waiting;
    uint64_t queued = 0;
    uint64_t done = 0;
    // When it got work last.
    uint64_t touched = 0;
  };

  void Enqueue(uint32_t queue, Work work);

  NullDevice& device_;
  std::array<Queue, kQueues> queues_;
  uint64_t clock_ = 0;
  absl::Status error_;  // Of work done; what comes after is dropped.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_NULL_NULL_QUEUES_H_
