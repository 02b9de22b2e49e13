#include "core/runtime/drivers/opencl/opencl_device.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/artifact/limits.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/opencl/opencl_code.h"
#include "core/runtime/drivers/opencl/opencl_queues.h"
#include "core/runtime/drivers/vendor_log.h"

namespace slipway {
namespace {

constexpr size_t kMaxTextBytes = 256;

template <typename Get>
std::string TextOf(Get get) {
  size_t bytes = 0;
  if (get(0, nullptr, &bytes) != CL_SUCCESS || bytes == 0 || bytes > (1 << 20)) return "";
  std::string text(bytes, '\0');
  if (get(bytes, text.data(), nullptr) != CL_SUCCESS) return "";
  return BoundedLog(text.c_str(), kMaxTextBytes);
}

std::string DeviceText(const OpenClLibrary& cl, cl_device_id id, cl_device_info what) {
  return TextOf([&](size_t bytes, void* data, size_t* size) {
    return cl.GetDeviceInfo(id, what, bytes, data, size);
  });
}

std::string PlatformText(const OpenClLibrary& cl, cl_platform_id id, cl_platform_info what) {
  return TextOf([&](size_t bytes, void* data, size_t* size) {
    return cl.GetPlatformInfo(id, what, bytes, data, size);
  });
}

template <typename T>
T Number(const OpenClLibrary& cl, cl_device_id id, cl_device_info what) {
  T value = {};
  if (cl.GetDeviceInfo(id, what, sizeof(value), &value, nullptr) != CL_SUCCESS) return {};
  return value;
}

int64_t Bytes(cl_ulong bytes) {
  return static_cast<int64_t>(std::min<cl_ulong>(bytes, cl_ulong{INT64_MAX}));
}

}  // namespace

absl::StatusOr<OpenClFacts> ReadFacts(const OpenClLibrary& cl, cl_platform_id platform,
                                      cl_device_id id) {
  OpenClFacts facts;
  facts.name = DeviceText(cl, id, CL_DEVICE_NAME);
  facts.vendor = DeviceText(cl, id, CL_DEVICE_VENDOR);
  facts.driver = DeviceText(cl, id, CL_DRIVER_VERSION);
  facts.platform = absl::StrCat(PlatformText(cl, platform, CL_PLATFORM_NAME), " ",
                                PlatformText(cl, platform, CL_PLATFORM_VERSION));
  facts.is_cpu = (Number<cl_device_type>(cl, id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  facts.memory_bytes = Bytes(Number<cl_ulong>(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE));
  facts.max_allocation_bytes = Bytes(Number<cl_ulong>(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  facts.limits.shared_bytes = Bytes(Number<cl_ulong>(cl, id, CL_DEVICE_LOCAL_MEM_SIZE));
  facts.limits.max_group = Bytes(Number<size_t>(cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  const auto dimensions = Number<cl_uint>(cl, id, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
  const auto lacks = [&](absl::string_view what) {
    return absl::FailedPreconditionError(
        absl::StrCat("opencl: device '", facts.name, "' of ", facts.platform, " ", what));
  };
  if (dimensions < 3 || dimensions > 64) return lacks("does not launch in three dimensions");
  std::vector<size_t> sizes(dimensions, 1);
  cl.GetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, dimensions * sizeof(size_t), sizes.data(),
                   nullptr);
  for (size_t i = 0; i < 3; ++i) facts.limits.max_group_sizes[i] = Bytes(sizes[i]);
  if (Number<cl_bool>(cl, id, CL_DEVICE_AVAILABLE) == CL_FALSE) return lacks("is not available");
  if (Number<cl_bool>(cl, id, CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE) {
    return lacks("has no compiler for what programs travel as");
  }
  const auto memory = Number<cl_device_svm_capabilities>(cl, id, CL_DEVICE_SVM_CAPABILITIES);
  if ((memory & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) == 0) {
    return lacks("has no shared virtual memory (OpenCL 2.0)");
  }
  if (Number<cl_bool>(cl, id, CL_DEVICE_ENDIAN_LITTLE) == CL_FALSE) return lacks("is big-endian");
  facts.has_host_visible_memory = (memory & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
  return facts;
}

absl::StatusOr<std::shared_ptr<OpenClDevice>> OpenClDevice::Create(
    const OpenClLibrary& library, cl_platform_id platform, cl_device_id id, int ordinal,
    std::optional<BinaryCache> cache) {
  SLIPWAY_ASSIGN_OR_RETURN(OpenClFacts facts, ReadFacts(library, platform, id));
  std::shared_ptr<OpenClDevice> device(
      new OpenClDevice(library, id, std::move(facts), ordinal, std::move(cache)));
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(platform), 0};
  cl_int error = CL_SUCCESS;
  device->context_ = library.CreateContext(properties, 1, &id, nullptr, nullptr, &error);
  SLIPWAY_RETURN_IF_ERROR(OpenClStatus(error, absl::StrCat(device->name_, ": a context")));
  SLIPWAY_ASSIGN_OR_RETURN(device->copies_, device->NewQueue());
  return device;
}

OpenClDevice::OpenClDevice(const OpenClLibrary& library, cl_device_id id, OpenClFacts facts,
                           int ordinal, std::optional<BinaryCache> cache)
    : cl_(library),
      id_(id),
      facts_(std::move(facts)),
      name_(absl::StrCat("opencl ", ordinal, " (", facts_.name, ")")),
      cache_(std::move(cache)) {}

OpenClDevice::~OpenClDevice() {
  for (const auto& [address, bytes] : allocations_) {
    cl_.SVMFree(context_, reinterpret_cast<void*>(address));
  }
  if (copies_ != nullptr) cl_.ReleaseCommandQueue(copies_);
  if (context_ != nullptr) cl_.ReleaseContext(context_);
}

absl::StatusOr<cl_command_queue> OpenClDevice::NewQueue() const {
  cl_int error = CL_SUCCESS;
  cl_command_queue queue = cl_.CreateCommandQueueWithProperties(context_, id_, nullptr, &error);
  SLIPWAY_RETURN_IF_ERROR(OpenClStatus(error, absl::StrCat(name_, ": a queue")));
  return queue;
}

absl::StatusOr<MemoryInfo> OpenClDevice::memory_info() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return MemoryInfo{facts_.memory_bytes,
                    std::max<int64_t>(0, facts_.memory_bytes - allocated_bytes_)};
}

absl::StatusOr<DeviceMemory> OpenClDevice::Allocate(int64_t bytes, MemoryKind kind) {
  cl_svm_mem_flags flags = CL_MEM_READ_WRITE;
  if (kind == MemoryKind::kHostVisible) {
    if (!facts_.has_host_visible_memory) {
      return absl::UnimplementedError(absl::StrCat(
          name_, " has no memory that the host may touch at the same time (fine-grained buffers)"));
    }
    flags |= CL_MEM_SVM_FINE_GRAIN_BUFFER;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const int64_t left = facts_.memory_bytes - allocated_bytes_;
  void* data = nullptr;
  if (bytes >= 0 && bytes <= left && bytes <= facts_.max_allocation_bytes) {
    data = cl_.SVMAlloc(context_, flags,
                        static_cast<size_t>(std::max<int64_t>(bytes, kBufferAlignment)),
                        static_cast<cl_uint>(kBufferAlignment));
  }
  if (data == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat(name_, ": ", bytes, " bytes asked for, ", left,
                                                     " of ", facts_.memory_bytes, " left, at most ",
                                                     facts_.max_allocation_bytes, " at once"));
  }
  const auto address = reinterpret_cast<uint64_t>(data);
  allocations_.emplace(address, bytes);
  allocated_bytes_ += bytes;
  return DeviceMemory{
      address, kind == MemoryKind::kHostVisible ? static_cast<uint8_t*>(data) : nullptr, bytes};
}

void OpenClDevice::Free(const DeviceMemory& memory) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = allocations_.find(memory.address);
  if (found == allocations_.end()) return;
  allocated_bytes_ -= found->second;
  allocations_.erase(found);
  cl_.SVMFree(context_, reinterpret_cast<void*>(memory.address));
}

absl::StatusOr<void*> OpenClDevice::Resolve(const MemoryPlace& place) const {
  if (place.device == this) return reinterpret_cast<void*>(place.memory.address);
  if (place.memory.host != nullptr) return static_cast<void*>(place.memory.host);
  return absl::UnimplementedError(
      absl::StrCat(name_, " does not reach memory of device '", place.device->name(), "'"));
}

absl::Status OpenClDevice::Copy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const void* const source, Resolve(from));
  SLIPWAY_ASSIGN_OR_RETURN(void* const target, Resolve(to));
  if (source == target) return absl::OkStatus();
  return OpenClStatus(cl_.EnqueueSVMMemcpy(copies_, CL_TRUE, target, source,
                                           static_cast<size_t>(bytes), 0, nullptr, nullptr),
                      absl::StrCat(name_, ": copy of ", bytes, " bytes"));
}

absl::StatusOr<std::unique_ptr<DeviceCode>> OpenClDevice::LoadCode(const v1::Code& code,
                                                                   uint32_t /*abi*/,
                                                                   absl::string_view bytes) {
  return OpenClCode::Build(*this, code, bytes);
}

absl::StatusOr<std::unique_ptr<DeviceQueues>> OpenClDevice::NewQueues(
    const QueueOptions& /*options*/) {
  return std::unique_ptr<DeviceQueues>(std::make_unique<OpenClQueues>(*this));
}

}  // namespace slipway
