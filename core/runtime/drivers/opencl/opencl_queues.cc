#include "core/runtime/drivers/opencl/opencl_queues.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/opencl/opencl_code.h"
#include "core/runtime/drivers/opencl/opencl_device.h"

namespace slipway {
namespace {

// What may be under way before somebody must wait: OpenCL says of each piece of work whether it failed.
constexpr size_t kMaxPending = 4096;

class OpenClLaunch final : public DeviceLaunch {
 public:
  OpenClLaunch(const OpenClLibrary& library, const DeviceEntry& launched, cl_kernel made)
      : cl(library), entry(launched), kernel(made) {}
  ~OpenClLaunch() override { cl.ReleaseKernel(kernel); }

  const OpenClLibrary& cl;
  const DeviceEntry entry;
  const cl_kernel kernel;
  std::vector<slipway_buffer*> arguments;
  std::shared_ptr<const std::string> label;
};

class OpenClEvent final : public DeviceEvent {
 public:
  explicit OpenClEvent(const OpenClDevice& device) : device_(device) {}
  ~OpenClEvent() override { Set(nullptr); }

  absl::Status Wait() override {
    if (event_ == nullptr) return absl::OkStatus();
    return OpenClStatus(device_.cl().WaitForEvents(1, &event_),
                        absl::StrCat(device_.name(), ": work before an event"));
  }
  void Set(cl_event event) {
    if (event_ != nullptr) device_.cl().ReleaseEvent(event_);
    event_ = event;
  }
  const OpenClDevice& device() const { return device_; }
  cl_event get() const { return event_; }

 private:
  const OpenClDevice& device_;
  cl_event event_ = nullptr;
};

absl::Status SetArguments(const OpenClLaunch& launch) {
  const OpenClLibrary& cl = launch.cl;
  const auto tensors = static_cast<uint32_t>(launch.arguments.size());
  uint32_t index = 0;
  for (; index < tensors; ++index) {
    SLIPWAY_RETURN_IF_ERROR(OpenClStatus(
        cl.SetKernelArgSVMPointer(launch.kernel, index,
                                  reinterpret_cast<void*>(launch.arguments[index]->device)),
        *launch.label));
  }
  for (const slipway_buffer* buffer : launch.arguments) {
    for (int d = buffer->dimensions; d-- > 0 && index < launch.entry.parameters; ++index) {
      const cl_long extent = buffer->dim[d].extent;
      SLIPWAY_RETURN_IF_ERROR(OpenClStatus(
          cl.SetKernelArg(launch.kernel, index, sizeof(extent), &extent), *launch.label));
    }
  }
  return absl::OkStatus();
}

struct WorkSizes {
  size_t global[3];
  size_t local[3];
};

absl::StatusOr<WorkSizes> WorkOf(const OpenClDevice& device, const DeviceEntry& entry,
                                 const LaunchSizes& sizes) {
  SLIPWAY_RETURN_IF_ERROR(CheckSizes(entry, device.facts().limits, sizes, device.name()));
  if (sizes.shared_bytes != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        device.name(), ": memory that a group shares is declared in the text of entry '",
        entry.name, "', not asked for"));
  }
  WorkSizes work;
  for (size_t i = 0; i < 3; ++i) {
    work.global[i] = static_cast<size_t>(sizes.groups[i] * sizes.group[i]);
    work.local[i] = static_cast<size_t>(sizes.group[i]);
  }
  return work;
}

}  // namespace

OpenClQueues::~OpenClQueues() {
  Finish().IgnoreError();
  for (const cl_command_queue queue : queues_) {
    if (queue != nullptr) device_.cl().ReleaseCommandQueue(queue);
  }
}

absl::StatusOr<cl_command_queue> OpenClQueues::At(uint32_t queue) {
  if (queues_[queue] == nullptr) {
    SLIPWAY_ASSIGN_OR_RETURN(queues_[queue], device_.NewQueue());
  }
  return queues_[queue];
}

absl::Status OpenClQueues::Remember(cl_event event, std::shared_ptr<const std::string> label) {
  pending_.push_back({event, std::move(label)});
  return pending_.size() < kMaxPending ? absl::OkStatus() : Finish();
}

absl::StatusOr<std::unique_ptr<DeviceLaunch>> OpenClQueues::Prepare(
    const DeviceCode& code, uint32_t kernel, absl::Span<slipway_buffer* const> arguments,
    std::string label) {
  const auto& program = static_cast<const OpenClCode&>(code);
  const DeviceEntry& entry = program.entry(kernel);
  SLIPWAY_RETURN_IF_ERROR(CheckParameters(entry, arguments, label));
  SLIPWAY_ASSIGN_OR_RETURN(cl_kernel made, program.NewKernel(kernel));
  auto launch = std::make_unique<OpenClLaunch>(device_.cl(), entry, made);
  launch->arguments.assign(arguments.begin(), arguments.end());
  launch->label = std::make_shared<const std::string>(std::move(label));
  return std::unique_ptr<DeviceLaunch>(std::move(launch));
}

absl::Status OpenClQueues::Launch(uint32_t queue, DeviceLaunch& launch, const LaunchSizes& sizes) {
  const auto& call = static_cast<const OpenClLaunch&>(launch);
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const WorkSizes work, WorkOf(device_, call.entry, sizes),
                                *call.label);
  SLIPWAY_ASSIGN_OR_RETURN(cl_command_queue commands, At(queue));
  SLIPWAY_RETURN_IF_ERROR(SetArguments(call));
  cl_event done = nullptr;
  SLIPWAY_RETURN_IF_ERROR(
      OpenClStatus(device_.cl().EnqueueNDRangeKernel(commands, call.kernel, 3, nullptr, work.global,
                                                     work.local, 0, nullptr, &done),
                   *call.label));
  return Remember(done, call.label);
}

absl::Status OpenClQueues::Copy(uint32_t queue, const MemoryPlace& from, const MemoryPlace& to,
                                int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const void* const source, device_.Resolve(from));
  SLIPWAY_ASSIGN_OR_RETURN(void* const target, device_.Resolve(to));
  if (source == target) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(cl_command_queue commands, At(queue));
  cl_event done = nullptr;
  SLIPWAY_RETURN_IF_ERROR(
      OpenClStatus(device_.cl().EnqueueSVMMemcpy(commands, CL_FALSE, target, source,
                                                 static_cast<size_t>(bytes), 0, nullptr, &done),
                   absl::StrCat(device_.name(), ": copy of ", bytes, " bytes")));
  return Remember(done, copy_label_);
}

absl::StatusOr<std::unique_ptr<DeviceEvent>> OpenClQueues::NewEvent() {
  return std::unique_ptr<DeviceEvent>(std::make_unique<OpenClEvent>(device_));
}

absl::Status OpenClQueues::Record(uint32_t queue, DeviceEvent& event) {
  SLIPWAY_ASSIGN_OR_RETURN(cl_command_queue commands, At(queue));
  cl_event marker = nullptr;
  SLIPWAY_RETURN_IF_ERROR(
      OpenClStatus(device_.cl().EnqueueMarkerWithWaitList(commands, 0, nullptr, &marker),
                   absl::StrCat(device_.name(), ": an event")));
  static_cast<OpenClEvent&>(event).Set(marker);
  // Other queues may wait for it, which flushes nothing.
  return OpenClStatus(device_.cl().Flush(commands), absl::StrCat(device_.name(), ": flushing"));
}

absl::Status OpenClQueues::Wait(uint32_t queue, DeviceEvent& event) {
  auto* const other = dynamic_cast<OpenClEvent*>(&event);
  if (other == nullptr || &other->device() != &device_) return event.Wait();
  if (other->get() == nullptr) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(cl_command_queue commands, At(queue));
  const cl_event awaited = other->get();
  return OpenClStatus(device_.cl().EnqueueBarrierWithWaitList(commands, 1, &awaited, nullptr),
                      absl::StrCat(device_.name(), ": waiting for an event"));
}

absl::Status OpenClQueues::Finish() {
  const OpenClLibrary& cl = device_.cl();
  absl::Status status;
  // All begin before any is waited for: they may wait for each other.
  for (const cl_command_queue queue : queues_) {
    if (queue != nullptr) {
      status.Update(OpenClStatus(cl.Flush(queue), absl::StrCat(device_.name(), ": flushing")));
    }
  }
  for (const cl_command_queue queue : queues_) {
    if (queue != nullptr) {
      status.Update(OpenClStatus(cl.Finish(queue), absl::StrCat(device_.name(), ": finishing")));
    }
  }
  for (const OpenClPending& work : std::exchange(pending_, {})) {
    cl_int outcome = CL_COMPLETE;
    const cl_int error = cl.GetEventInfo(work.event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                         sizeof(outcome), &outcome, nullptr);
    if (error != CL_SUCCESS) outcome = error;
    if (outcome < 0) status.Update(OpenClStatus(outcome, *work.label));
    cl.ReleaseEvent(work.event);
  }
  return status;
}

}  // namespace slipway
