#include "core/runtime/drivers/cuda/cuda_queues.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cuda_code.h"
#include "core/runtime/drivers/cuda/cuda_device.h"
#include "core/runtime/drivers/cuda/cuda_way.h"

namespace slipway {
namespace {

struct CudaLaunch : DeviceLaunch {
  CudaLaunch(bool is_of_library, std::string name)
      : is_library(is_of_library), label(std::make_shared<const std::string>(std::move(name))) {}

  const bool is_library;  // Else a kernel.
  const std::shared_ptr<const std::string> label;
};

struct KernelLaunch final : CudaLaunch {
  KernelLaunch(const CudaEntry& launched, absl::Span<slipway_buffer* const> tensors,
               std::string name)
      : CudaLaunch(false, std::move(name)),
        entry(launched),
        arguments(tensors.begin(), tensors.end()) {}

  // Addresses and extents as they are now.
  void ReadParameters(std::vector<uint64_t>& values) const {
    values.clear();
    for (const slipway_buffer* buffer : arguments) values.push_back(buffer->device);
    for (const slipway_buffer* buffer : arguments) {
      for (int d = buffer->dimensions; d-- > 0 && values.size() < entry.facts.parameters;) {
        values.push_back(static_cast<uint64_t>(int64_t{buffer->dim[d].extent}));
      }
    }
  }

  const CudaEntry& entry;
  const std::vector<slipway_buffer*> arguments;
};

struct LibraryLaunch final : CudaLaunch {
  LibraryLaunch(const CudaWay& taken, const LibraryArguments& tensors, std::string name)
      : CudaLaunch(true, std::move(name)), way(taken), arguments(tensors) {}

  const CudaWay& way;
  const LibraryArguments arguments;
};

class CudaEvent final : public DeviceEvent {
 public:
  CudaEvent(const CudaDevice& device, CUevent event) : device_(device), event_(event) {}
  ~CudaEvent() override {
    const CurrentContext current(device_);
    device_.cuda().EventDestroy(event_);
  }

  absl::Status Wait() override {
    const CurrentContext current(device_);
    SLIPWAY_RETURN_IF_ERROR(current.status());
    return device_.ToStatus(device_.cuda().EventSynchronize(event_), "work before an event");
  }
  CUevent get() const { return event_; }

 private:
  const CudaDevice& device_;
  const CUevent event_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CudaQueues>> CudaQueues::Create(CudaDevice& device,
                                                               const QueueOptions& options) {
  std::unique_ptr<CudaQueues> queues(new CudaQueues(device));
  if (!options.is_timed) return queues;
  const CurrentContext current(device);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  SLIPWAY_RETURN_IF_ERROR(
      device.ToStatus(device.cuda().EventCreate(&queues->begin_, 0), "an event with a time"));
  return queues;
}

CudaQueues::~CudaQueues() {
  Finish().IgnoreError();
  const CurrentContext current(device_);
  for (const CUevent end : ends_) {
    if (end != nullptr) device_.cuda().EventDestroy(end);
  }
  if (begin_ != nullptr) device_.cuda().EventDestroy(begin_);
  for (const CUstream stream : streams_) {
    if (stream != nullptr) device_.cuda().StreamDestroy(stream);
  }
  for (const DeviceMemory& workspace : workspaces_) {
    if (workspace.address != 0) device_.Free(workspace);
  }
}

absl::StatusOr<CUstream> CudaQueues::At(uint32_t queue) {
  if (streams_[queue] == nullptr) {
    SLIPWAY_RETURN_IF_ERROR(device_.ToStatus(
        device_.cuda().StreamCreate(&streams_[queue], kCudaStreamNonBlocking), "a stream"));
  }
  return streams_[queue];
}

absl::Status CudaQueues::BeginTiming(CUstream stream) {
  if (begin_ == nullptr || is_begun_) return absl::OkStatus();
  is_begun_ = true;
  return device_.ToStatus(device_.cuda().EventRecord(begin_, stream), "timing work");
}

absl::Status CudaQueues::EndTiming(size_t queue) {
  if (!is_begun_) return absl::OkStatus();
  if (ends_[queue] == nullptr) {
    SLIPWAY_RETURN_IF_ERROR(
        device_.ToStatus(device_.cuda().EventCreate(&ends_[queue], 0), "an event with a time"));
  }
  return device_.ToStatus(device_.cuda().EventRecord(ends_[queue], streams_[queue]), "timing work");
}

absl::Status CudaQueues::CountTime() {
  if (!is_begun_) return absl::OkStatus();
  is_begun_ = false;
  float longest = 0;
  for (const CUevent end : ends_) {
    float milliseconds = 0;
    if (end == nullptr) continue;
    SLIPWAY_RETURN_IF_ERROR(device_.ToStatus(
        device_.cuda().EventElapsedTime(&milliseconds, begin_, end), "the time of work"));
    longest = std::max(longest, milliseconds);
  }
  worked_ns_ += static_cast<int64_t>(double{longest} * 1e6);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<DeviceLaunch>> CudaQueues::Prepare(
    const DeviceCode& code, uint32_t kernel, absl::Span<slipway_buffer* const> arguments,
    std::string label) {
  const CudaEntry& entry = static_cast<const CudaCode&>(code).entry(kernel);
  SLIPWAY_RETURN_IF_ERROR(CheckParameters(entry.facts, arguments, label));
  return std::unique_ptr<DeviceLaunch>(
      std::make_unique<KernelLaunch>(entry, arguments, std::move(label)));
}

absl::StatusOr<std::unique_ptr<DeviceLaunch>> CudaQueues::PrepareLibrary(
    const LibraryWay& way, const LibraryArguments& arguments, std::string label) {
  const auto& taken = static_cast<const CudaWay&>(way);
  workspace_bytes_ = std::max(workspace_bytes_, taken.workspace_bytes());
  return std::unique_ptr<DeviceLaunch>(
      std::make_unique<LibraryLaunch>(taken, arguments, std::move(label)));
}

absl::Status CudaQueues::Flush() {
  if (work_.count() == 0) return absl::OkStatus();
  const CurrentContext current(device_);
  absl::Status status = current.status();
  if (status.ok()) {
    const absl::StatusOr<CUstream> stream = At(work_queue_);
    status = stream.status();
    if (status.ok()) status = BeginTiming(*stream);
    if (status.ok()) status = graphs_.Run(work_, *stream);
  }
  work_.Clear();
  return status;
}

absl::Status CudaQueues::MakeRoom(uint32_t queue) {
  if (queue != work_queue_ || work_.count() == kMostPieces) SLIPWAY_RETURN_IF_ERROR(Flush());
  work_queue_ = queue;
  return absl::OkStatus();
}

absl::Status CudaQueues::Launch(uint32_t queue, DeviceLaunch& launch, const LaunchSizes& sizes) {
  const auto& call = static_cast<const CudaLaunch&>(launch);
  SLIPWAY_RETURN_IF_ERROR(device_.CheckAlive(*call.label));
  SLIPWAY_RETURN_IF_ERROR_WITH(
      call.is_library ? AddWay(queue, launch) : AddKernel(queue, launch, sizes), *call.label);
  if (launched_++ == 0) first_ = call.label;
  last_ = call.label;
  return absl::OkStatus();
}

absl::Status CudaQueues::AddKernel(uint32_t queue, const DeviceLaunch& launch,
                                   const LaunchSizes& sizes) {
  const auto& call = static_cast<const KernelLaunch&>(launch);
  SLIPWAY_RETURN_IF_ERROR(
      CheckSizes(call.entry.facts, device_.facts().limits, sizes, device_.name()));
  SLIPWAY_RETURN_IF_ERROR(MakeRoom(queue));
  call.ReadParameters(parameters_);
  work_.AddLaunch(call.entry.function, sizes, parameters_, call.label);
  return absl::OkStatus();
}

absl::Status CudaQueues::AddWay(uint32_t queue, const DeviceLaunch& launch) {
  const auto& call = static_cast<const LibraryLaunch&>(launch);
  const LibraryArguments& tensors = call.arguments;
  CudaWayAddresses addresses;
  const std::pair<const slipway_buffer*, CUdeviceptr*> places[] = {
      {tensors.factors[0], &addresses.factors[0]},
      {tensors.factors[1], &addresses.factors[1]},
      {tensors.result, &addresses.result},
      {tensors.bias, &addresses.bias},
      {tensors.added, &addresses.added}};
  for (const auto& [tensor, address] : places) {
    if (tensor == nullptr) continue;
    *address = tensor->device;
    if (*address % CudaWay::kAlignment == 0) continue;
    return absl::InvalidArgumentError("a tensor of a library's step is not aligned");
  }
  SLIPWAY_ASSIGN_OR_RETURN(addresses.workspace, WorkspaceOf(queue));
  SLIPWAY_RETURN_IF_ERROR(MakeRoom(queue));
  work_.AddWay(call.way, addresses, call.label);
  return absl::OkStatus();
}

absl::StatusOr<CUdeviceptr> CudaQueues::WorkspaceOf(uint32_t queue) {
  DeviceMemory& workspace = workspaces_[queue];
  if (workspace.address != 0 && workspace.bytes >= workspace_bytes_) return workspace.address;
  SLIPWAY_RETURN_IF_ERROR(Finish());
  device_.Free(workspace);
  workspace = {};
  SLIPWAY_ASSIGN_OR_RETURN(workspace, device_.Allocate(workspace_bytes_, MemoryKind::kLocal));
  return workspace.address;
}

absl::Status CudaQueues::Copy(uint32_t queue, const MemoryPlace& from, const MemoryPlace& to,
                              int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  if (from.device == &device_ && to.device == &device_) {
    if (from.memory.address == to.memory.address) return absl::OkStatus();
    SLIPWAY_RETURN_IF_ERROR(MakeRoom(queue));
    work_.AddCopy(to.memory.address, from.memory.address, bytes);
    return absl::OkStatus();
  }
  SLIPWAY_RETURN_IF_ERROR(Flush());
  const CurrentContext current(device_);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  SLIPWAY_ASSIGN_OR_RETURN(const CUstream stream, At(queue));
  SLIPWAY_RETURN_IF_ERROR(BeginTiming(stream));
  return device_.EnqueueCopy(from, to, bytes, stream);
}

absl::StatusOr<std::unique_ptr<DeviceEvent>> CudaQueues::NewEvent() {
  const CurrentContext current(device_);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  CUevent event = nullptr;
  SLIPWAY_RETURN_IF_ERROR(
      device_.ToStatus(device_.cuda().EventCreate(&event, kCudaEventDisableTiming), "an event"));
  return std::unique_ptr<DeviceEvent>(std::make_unique<CudaEvent>(device_, event));
}

absl::Status CudaQueues::Record(uint32_t queue, DeviceEvent& event) {
  SLIPWAY_RETURN_IF_ERROR(Flush());
  const CurrentContext current(device_);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  SLIPWAY_ASSIGN_OR_RETURN(const CUstream stream, At(queue));
  return device_.ToStatus(device_.cuda().EventRecord(static_cast<CudaEvent&>(event).get(), stream),
                          "an event");
}

absl::Status CudaQueues::Wait(uint32_t queue, DeviceEvent& event) {
  SLIPWAY_RETURN_IF_ERROR(Flush());
  auto* const other = dynamic_cast<CudaEvent*>(&event);
  if (other == nullptr) return event.Wait();
  const CurrentContext current(device_);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  SLIPWAY_ASSIGN_OR_RETURN(const CUstream stream, At(queue));
  return device_.ToStatus(device_.cuda().StreamWaitEvent(stream, other->get(), 0),
                          "waiting for an event");
}

std::string CudaQueues::Launched() const {
  if (launched_ == 0) return "finishing";
  if (launched_ == 1) return *first_;
  return absl::StrCat("one of ", launched_, " launches, from '", *first_, "' to '", *last_, "'");
}

absl::Status CudaQueues::Finish() {
  absl::Status status = Flush();
  const CurrentContext current(device_);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  for (size_t queue = 0; queue < streams_.size(); ++queue) {
    if (streams_[queue] != nullptr) status.Update(EndTiming(queue));
  }
  for (const CUstream stream : streams_) {
    if (stream == nullptr) continue;
    const CUresult result = device_.cuda().StreamSynchronize(stream);
    if (result != kCudaSuccess) status.Update(device_.ToStatus(result, Launched()));
  }
  if (status.ok()) status = CountTime();
  is_begun_ = false;
  launched_ = 0;
  return status;
}

}  // namespace slipway
