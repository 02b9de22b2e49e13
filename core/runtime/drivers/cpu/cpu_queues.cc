#include "core/runtime/drivers/cpu/cpu_queues.h"

#include <cstring>
#include <vector>

#include "absl/base/optimization.h"
#include "absl/strings/str_cat.h"
#include "core/runtime/kernel_failure.h"

namespace slipway {
namespace {

struct CpuLaunch final : DeviceLaunch {
  slipway_kernel kernel = nullptr;
  std::vector<void*> arguments;
};

// All that was recorded has ended.
class CpuEvent final : public DeviceEvent {
 public:
  absl::Status Wait() override { return absl::OkStatus(); }
};

}  // namespace

absl::Status CpuCode::CheckArguments(uint32_t kernel, int inputs, int outputs) const {
  const int32_t takes = module_->kernel(kernel).argument_count;
  if (takes == inputs + outputs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("gives ", inputs + outputs, " arguments to a kernel that takes ", takes));
}

absl::StatusOr<std::unique_ptr<DeviceLaunch>> CpuQueues::Prepare(
    const DeviceCode& code, uint32_t kernel, absl::Span<slipway_buffer* const> arguments,
    std::string /*label*/) {
  auto launch = std::make_unique<CpuLaunch>();
  launch->kernel = static_cast<const CpuCode&>(code).kernel(kernel);
  launch->arguments.reserve(arguments.size() + 1);
  launch->arguments.push_back(&context_pointer_);
  launch->arguments.insert(launch->arguments.end(), arguments.begin(), arguments.end());
  return std::unique_ptr<DeviceLaunch>(std::move(launch));
}

absl::Status CpuQueues::Launch(uint32_t /*queue*/, DeviceLaunch& launch,
                               const LaunchSizes& /*sizes*/) {
  auto& call = static_cast<CpuLaunch&>(launch);
  context_.ClearError();
  scratch_.ForgetRefusals();
  const int32_t result = call.kernel(call.arguments.data());
  if (ABSL_PREDICT_TRUE(result == 0)) return absl::OkStatus();
  return Failure(result);
}

absl::Status CpuQueues::Failure(int32_t result) {
  return StatusOf({.result = result,
                   .text = context_.error_text(),
                   .was_refused = scratch_.has_refused(),
                   .scratch_bytes = scratch_.limit_bytes()});
}

absl::Status CpuQueues::Copy(uint32_t /*queue*/, const MemoryPlace& from, const MemoryPlace& to,
                             int64_t bytes) {
  return CopyOnHost(from, to, bytes);
}

absl::StatusOr<std::unique_ptr<DeviceEvent>> CpuQueues::NewEvent() {
  return std::unique_ptr<DeviceEvent>(std::make_unique<CpuEvent>());
}

absl::Status CpuQueues::Record(uint32_t /*queue*/, DeviceEvent& /*event*/) {
  return absl::OkStatus();
}

absl::Status CpuQueues::Wait(uint32_t /*queue*/, DeviceEvent& event) { return event.Wait(); }

absl::Status CopyOnHost(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes) {
  for (const MemoryPlace* place : {&from, &to}) {
    if (place->memory.host != nullptr) continue;
    return absl::UnimplementedError(absl::StrCat("the CPU does not reach memory of device '",
                                                 place->device->name(), "': let that device copy"));
  }
  std::memmove(to.memory.host, from.memory.host, static_cast<size_t>(bytes));
  return absl::OkStatus();
}

}  // namespace slipway
