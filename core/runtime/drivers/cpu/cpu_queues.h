// CpuQueues: kernels called and bytes moved at once, whatever the queue.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_QUEUES_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_QUEUES_H_

#include <memory>
#include <string>
#include <utility>

#include "core/runtime/code_module.h"
#include "core/runtime/context.h"
#include "core/runtime/device.h"
#include "core/runtime/scratch.h"
#include "core/runtime/step_timing.h"
#include "core/runtime/thread_pool.h"

namespace slipway {

class CpuCode final : public DeviceCode {
 public:
  explicit CpuCode(std::unique_ptr<CodeModule> module) : module_(std::move(module)) {}
  absl::Status CheckArguments(uint32_t kernel, int inputs, int outputs) const override;
  slipway_kernel kernel(uint32_t index) const { return module_->kernel(index).function; }

 private:
  const std::unique_ptr<CodeModule> module_;
};

class CpuQueues final : public DeviceQueues {
 public:
  explicit CpuQueues(const QueueOptions& options)
      : threads_(options.threads),
        scratch_(options.scratch_bytes),
        context_(threads_, scratch_),
        context_pointer_(&context_) {}

  absl::StatusOr<std::unique_ptr<DeviceLaunch>> Prepare(const DeviceCode& code, uint32_t kernel,
                                                        absl::Span<slipway_buffer* const> arguments,
                                                        std::string label) override;
  absl::Status Launch(uint32_t queue, DeviceLaunch& launch, const LaunchSizes& sizes) override;
  absl::Status Copy(uint32_t queue, const MemoryPlace& from, const MemoryPlace& to,
                    int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() override;
  absl::Status Record(uint32_t queue, DeviceEvent& event) override;
  absl::Status Wait(uint32_t queue, DeviceEvent& event) override;
  absl::Status Finish() override { return absl::OkStatus(); }
  void SetRecording(const ThreadRecording* recording) override { context_.SetRecording(recording); }

 private:
  absl::Status Failure(int32_t result);

  ThreadPool threads_;
  Scratch scratch_;
  slipway_context context_;
  slipway_context* context_pointer_;  // What args[0] points to.
};

// The copy behind CpuQueues::Copy and CpuDevice::Copy.
absl::Status CopyOnHost(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_QUEUES_H_
