// BareQueues: work that is sent to a bare runner as one list when somebody waits for it.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_BARE_QUEUES_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_BARE_QUEUES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/device.h"
#include "core/runtime/drivers/attached/bare_device.h"

namespace slipway {

class BareCode final : public DeviceCode {
 public:
  // Gives the number back with itself.
  BareCode(BareDevice& device, uint64_t number) : device_(device), number_(number) {}
  ~BareCode() override;
  void SetLoaded(std::vector<int32_t> argument_counts) {
    argument_counts_ = std::move(argument_counts);
    is_loaded_ = true;
  }
  absl::Status CheckArguments(uint32_t kernel, int inputs, int outputs) const override;
  uint64_t number() const { return number_; }

 private:
  BareDevice& device_;
  const uint64_t number_;
  std::vector<int32_t> argument_counts_;  // By kernel.
  bool is_loaded_ = false;
};

// All queues are one, in the order in which work comes.
class BareQueues final : public DeviceQueues {
 public:
  BareQueues(BareDevice& device, uint64_t number, const QueueOptions& options)
      : device_(device), number_(number), options_(options) {}
  ~BareQueues() override;

  absl::StatusOr<std::unique_ptr<DeviceLaunch>> Prepare(const DeviceCode& code, uint32_t kernel,
                                                        absl::Span<slipway_buffer* const> arguments,
                                                        std::string label) override;
  absl::Status Launch(uint32_t queue, DeviceLaunch& launch, const LaunchSizes& sizes) override;
  absl::Status Copy(uint32_t queue, const MemoryPlace& from, const MemoryPlace& to,
                    int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() override;
  absl::Status Record(uint32_t queue, DeviceEvent& event) override;
  absl::Status Wait(uint32_t queue, DeviceEvent& event) override;
  // Forgets the error that it gives, and what was queued behind it.
  absl::Status Finish() override;
  std::optional<int64_t> worked_ns() const override { return worked_ns_; }

 private:
  // A command that is sent with the next list; `label` is null for copies.
  absl::Status Add(absl::string_view command, std::shared_ptr<const std::string> label);

  BareDevice& device_;
  const uint64_t number_;
  const QueueOptions options_;
  std::string list_;
  std::vector<std::shared_ptr<const std::string>> labels_;  // Of its commands.
  std::vector<uint32_t> steps_;                             // Whose they are.
  std::string sent_;                                        // The list before.
  std::string command_;                                     // Room for one.
  int64_t worked_ns_ = 0;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_BARE_QUEUES_H_
