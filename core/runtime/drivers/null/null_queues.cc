#include "core/runtime/drivers/null/null_queues.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/null/null_kernels.h"

namespace slipway {
namespace {

constexpr int64_t kMaxInstancesOfAGroup = 1024;
constexpr int64_t kMaxSharedBytes = 48 << 10;

struct NullLaunch final : DeviceLaunch {
  const NullKernel* kernel = nullptr;
  std::vector<slipway_buffer*> arguments;
  std::string label;
};

// A point of a queue, by the number of pieces of work before it.
class NullEvent final : public DeviceEvent {
 public:
  absl::Status Wait() override {
    return queues == nullptr ? absl::OkStatus() : queues->RunUntil(queue, count);
  }

  NullQueues* queues = nullptr;
  uint32_t queue = 0;
  uint64_t count = 0;
};

// The parameters of an entry: pointers, then the extents of each tensor.
struct Parameters {
  std::vector<uint64_t> pointers;
  std::vector<std::vector<int64_t>> extents;
};

Parameters ParametersOf(const NullLaunch& launch) {
  Parameters parameters;
  for (const slipway_buffer* buffer : launch.arguments) {
    parameters.pointers.push_back(buffer->device);
    std::vector<int64_t> extents;
    for (int d = buffer->dimensions; d-- > 0;) extents.push_back(buffer->dim[d].extent);
    parameters.extents.push_back(std::move(extents));
  }
  return parameters;
}

int64_t Count(const std::vector<int64_t>& extents) {
  int64_t count = 1;
  for (const int64_t extent : extents) count *= extent;
  return count;
}

absl::Status RunInstances(const NullDevice& device, const NullKernel& kernel,
                          const Parameters& parameters, int64_t instances) {
  std::vector<float*> tensors;
  for (size_t i = 0; i < parameters.pointers.size(); ++i) {
    SLIPWAY_ASSIGN_OR_RETURN(
        uint8_t* const bytes,
        device.Resolve(parameters.pointers[i], 4 * Count(parameters.extents[i])));
    tensors.push_back(reinterpret_cast<float*>(bytes));
  }
  const int64_t elements = std::min(instances, Count(parameters.extents.back()));
  for (int i = 0; elements > 0 && i < kernel.inputs; ++i) {
    const int64_t has = Count(parameters.extents[static_cast<size_t>(i)]);
    const int64_t reads = kernel.reads_first ? 1 : elements;
    if (has >= reads) continue;
    return absl::InternalError(absl::StrCat("entry '", kernel.name, "' reads ", reads,
                                            " elements of input ", i, ", which has ", has));
  }
  for (int64_t i = 0; i < elements; ++i) {
    SLIPWAY_RETURN_IF_ERROR(kernel.function(tensors, i));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceLaunch>> NullQueues::Prepare(
    const DeviceCode& code, uint32_t kernel, absl::Span<slipway_buffer* const> arguments,
    std::string label) {
  for (const slipway_buffer* argument : arguments) {
    if (argument->type.code == SLIPWAY_TYPE_FLOAT && argument->type.bits == 32) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(device_.name(), ": entries take tensors of f32 alone"));
  }
  auto launch = std::make_unique<NullLaunch>();
  launch->kernel = &static_cast<const NullCode&>(code).kernel(kernel);
  launch->arguments.assign(arguments.begin(), arguments.end());
  launch->label = std::move(label);
  return std::unique_ptr<DeviceLaunch>(std::move(launch));
}

absl::Status NullQueues::Launch(uint32_t queue, DeviceLaunch& launch, const LaunchSizes& sizes) {
  int64_t groups = 1;
  int64_t group = 1;
  for (size_t i = 0; i < 3; ++i) {
    if (sizes.groups[i] < 1 || sizes.group[i] < 1 ||
        __builtin_mul_overflow(groups, sizes.groups[i], &groups) ||
        __builtin_mul_overflow(group, sizes.group[i], &group) || group > kMaxInstancesOfAGroup) {
      return absl::InvalidArgumentError(absl::StrCat(device_.name(), " does not launch ",
                                                     sizes.groups[0], " x ", sizes.groups[1], " x ",
                                                     sizes.groups[2], " groups of ", sizes.group[0],
                                                     " x ", sizes.group[1], " x ", sizes.group[2]));
    }
  }
  if (sizes.shared_bytes < 0 || sizes.shared_bytes > kMaxSharedBytes) {
    return absl::InvalidArgumentError(absl::StrCat(device_.name(), " has ", kMaxSharedBytes,
                                                   " bytes for a group to share, not ",
                                                   sizes.shared_bytes));
  }
  const auto& call = static_cast<const NullLaunch&>(launch);
  if (sizes.shared_bytes < call.kernel->shared_bytes * group) {
    return absl::InternalError(
        absl::StrCat("entry '", call.kernel->name, "' uses ", call.kernel->shared_bytes * group,
                     " bytes that its group shares, which has ", sizes.shared_bytes));
  }
  const int64_t instances = groups > INT64_MAX / group ? INT64_MAX : groups * group;
  Enqueue(queue, [this, queue, kernel = call.kernel, label = call.label, instances,
                  parameters = ParametersOf(call)] {
    device_.Trace(
        absl::StrCat("queue ", queue, ": ", kernel->name, " of ", instances, " instances"));
    return Annotate(RunInstances(device_, *kernel, parameters, instances), label);
  });
  return absl::OkStatus();
}

absl::Status NullQueues::Copy(uint32_t queue, const MemoryPlace& from, const MemoryPlace& to,
                              int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  SLIPWAY_RETURN_IF_ERROR(device_.Resolve(from, bytes).status());
  SLIPWAY_RETURN_IF_ERROR(device_.Resolve(to, bytes).status());
  Enqueue(queue, [this, queue, from, to, bytes] {
    device_.Trace(absl::StrCat("queue ", queue, ": copy of ", bytes, " bytes"));
    return device_.Copy(from, to, bytes);
  });
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<DeviceEvent>> NullQueues::NewEvent() {
  return std::unique_ptr<DeviceEvent>(std::make_unique<NullEvent>());
}

absl::Status NullQueues::Record(uint32_t queue, DeviceEvent& event) {
  auto& point = static_cast<NullEvent&>(event);
  point.queues = this;
  point.queue = queue;
  point.count = queues_[queue].queued;
  return absl::OkStatus();
}

absl::Status NullQueues::Wait(uint32_t queue, DeviceEvent& event) {
  const auto* const other = dynamic_cast<const NullEvent*>(&event);
  if (other == nullptr) return event.Wait();
  if (other->queues == nullptr) return absl::OkStatus();
  // As it was recorded by now: recording it again does not change what is waited for.
  Enqueue(queue, [this, queue, from = other->queues, of = other->queue, count = other->count] {
    device_.Trace(absl::StrCat("queue ", queue, ": wait"));
    return from->RunUntil(of, count);
  });
  return absl::OkStatus();
}

void NullQueues::Enqueue(uint32_t queue, Work work) {
  queues_[queue].waiting.push_back(std::move(work));
  ++queues_[queue].queued;
  queues_[queue].touched = ++clock_;
}

absl::Status NullQueues::RunUntil(uint32_t queue, uint64_t count) {
  Queue& todo = queues_[queue];
  while (todo.done < count) {
    const Work work = std::move(todo.waiting.front());
    todo.waiting.pop_front();
    ++todo.done;
    if (error_.ok()) error_ = work();
  }
  return error_;
}

absl::Status NullQueues::Finish() {
  std::array<uint32_t, kQueues> order;
  for (uint32_t i = 0; i < kQueues; ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [this](uint32_t a, uint32_t b) { return queues_[a].touched > queues_[b].touched; });
  for (const uint32_t queue : order) RunUntil(queue, queues_[queue].queued).IgnoreError();
  return std::exchange(error_, absl::OkStatus());
}

}  // namespace slipway
