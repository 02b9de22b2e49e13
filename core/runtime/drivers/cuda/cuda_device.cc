#include "core/runtime/drivers/cuda/cuda_device.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/artifact/limits.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cuda/cublaslt_products.h"
#include "core/runtime/drivers/cuda/cuda_code.h"
#include "core/runtime/drivers/cuda/cuda_queues.h"
#include "core/runtime/drivers/cuda/cudnn_convolutions.h"
#include "core/runtime/drivers/vendor_log.h"

namespace slipway {
namespace {

constexpr size_t kMaxNameBytes = 256;
constexpr int kMaxAddressBytes = 32;

CUdeviceptr Address(const DeviceMemory& memory) { return memory.address; }

}  // namespace

absl::StatusOr<CudaFacts> ReadFacts(const CudaLibrary& cuda, CUdevice id) {
  CudaFacts facts;
  char name[kMaxNameBytes] = "";
  SLIPWAY_RETURN_IF_ERROR(cuda.ToStatus(cuda.DeviceGetName(name, sizeof(name) - 1, id),
                                        absl::StrCat("cuda: the name of device ", id)));
  facts.name = BoundedLog(name, kMaxNameBytes);
  char address[kMaxAddressBytes] = "";
  if (cuda.DeviceGetPCIBusId(address, kMaxAddressBytes - 1, id) == kCudaSuccess) {
    facts.pci_address = BoundedLog(address, kMaxAddressBytes);
  }
  absl::Status status;
  const auto number = [&](int attribute) -> int64_t {
    int value = 0;
    status.Update(
        cuda.ToStatus(cuda.DeviceGetAttribute(&value, attribute, id),
                      absl::StrCat("cuda: attribute ", attribute, " of '", facts.name, "'")));
    return std::max(value, 0);
  };
  facts.capability = static_cast<int>(std::min<int64_t>(number(kCudaCapabilityMajor), 99) * 10 +
                                      std::min<int64_t>(number(kCudaCapabilityMinor), 9));
  facts.multiprocessors = static_cast<int>(number(kCudaMultiprocessorCount));
  facts.l2_bytes = number(kCudaL2CacheBytes);
  facts.limits.max_group = number(kCudaMaxThreadsPerBlock);
  for (int i = 0; i < 3; ++i) {
    facts.limits.max_group_sizes[static_cast<size_t>(i)] = number(kCudaMaxBlockDimX + i);
    facts.limits.max_groups[static_cast<size_t>(i)] = number(kCudaMaxGridDimX + i);
  }
  facts.limits.shared_bytes = number(kCudaMaxSharedMemoryPerBlockOptin);
  const bool has_one_address_space = number(kCudaUnifiedAddressing) != 0;
  SLIPWAY_RETURN_IF_ERROR(status);
  if (!has_one_address_space) {
    return absl::FailedPreconditionError(
        absl::StrCat("cuda: device '", facts.name, "' has no addresses that the host shares"));
  }
  return facts;
}

CurrentContext::CurrentContext(const CudaDevice& device) : cuda_(device.cuda()) {
  status_ = device.ToStatus(cuda_.CtxPushCurrent(device.context()), "its context");
}

CurrentContext::~CurrentContext() {
  CUcontext popped = nullptr;
  if (status_.ok()) cuda_.CtxPopCurrent(&popped);
}

absl::StatusOr<std::shared_ptr<CudaDevice>> CudaDevice::Create(const CudaLibrary& library,
                                                               CUdevice id, int ordinal,
                                                               bool wants_graphs,
                                                               VendorLibraries libraries) {
  SLIPWAY_ASSIGN_OR_RETURN(CudaFacts facts, ReadFacts(library, id));
  std::shared_ptr<CudaDevice> device(
      new CudaDevice(library, id, std::move(facts), ordinal, wants_graphs, std::move(libraries)));
  SLIPWAY_RETURN_IF_ERROR(
      device->ToStatus(library.DevicePrimaryCtxRetain(&device->context_, id), "a context"));
  const CurrentContext current(*device);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  SLIPWAY_RETURN_IF_ERROR(
      device->ToStatus(library.StreamCreate(&device->copies_, kCudaStreamNonBlocking), "a stream"));
  return device;
}

CudaDevice::CudaDevice(const CudaLibrary& library, CUdevice id, CudaFacts facts, int ordinal,
                       bool wants_graphs, VendorLibraries libraries)
    : cuda_(library),
      id_(id),
      facts_(std::move(facts)),
      name_(absl::StrCat("cuda ", ordinal, " (", facts_.name, ")")),
      has_graphs_(wants_graphs && library.GraphLaunch != nullptr),
      library_options_(std::move(libraries)) {}

CudaDevice::~CudaDevice() {
  if (context_ == nullptr) return;
  products_.library.reset();
  convolutions_.library.reset();
  {
    const CurrentContext current(*this);
    for (const auto& [address, memory] : allocations_) {
      memory.host == nullptr ? cuda_.MemFree(address) : cuda_.MemFreeHost(memory.host);
    }
    if (copies_ != nullptr) cuda_.StreamDestroy(copies_);
  }
  cuda_.DevicePrimaryCtxRelease(id_);
}

absl::Status CudaDevice::ToStatus(CUresult result, absl::string_view what) const {
  if (result == kCudaSuccess) return absl::OkStatus();
  CUresult lost = kCudaSuccess;
  if (!EndsContext(result) || lost_.compare_exchange_strong(lost, result)) {
    return cuda_.ToStatus(result, absl::StrCat(name_, ": ", what));
  }
  return CheckAlive(what);
}

absl::Status CudaDevice::CheckAlive(absl::string_view what) const {
  const CUresult lost = lost_;
  if (lost == kCudaSuccess) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(name_, ": ", what, ": the device's context was lost before, to ",
                   cuda_.ErrorName(lost), "; a new process has a new one"));
}

absl::StatusOr<MemoryInfo> CudaDevice::memory_info() const {
  const CurrentContext current(*this);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  size_t free = 0;
  size_t total = 0;
  SLIPWAY_RETURN_IF_ERROR(ToStatus(cuda_.MemGetInfo(&free, &total), "its memory"));
  return MemoryInfo{static_cast<int64_t>(total), static_cast<int64_t>(free)};
}

absl::StatusOr<DeviceMemory> CudaDevice::Allocate(int64_t bytes, MemoryKind kind) {
  const CurrentContext current(*this);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  const auto size = static_cast<size_t>(std::max(bytes, kBufferAlignment));
  DeviceMemory memory{.address = 0, .host = nullptr, .bytes = bytes};
  CUdeviceptr address = 0;
  CUresult result = kCudaSuccess;
  if (kind == MemoryKind::kHostVisible) {
    void* host = nullptr;
    result = cuda_.MemHostAlloc(&host, size, kCudaHostAllocPortable | kCudaHostAllocDeviceMap);
    if (result == kCudaSuccess) {
      result = cuda_.MemHostGetDevicePointer(&address, host, 0);
      if (result != kCudaSuccess) cuda_.MemFreeHost(host);
    }
    memory.host = static_cast<uint8_t*>(host);
  } else {
    result = cuda_.MemAlloc(&address, size);
  }
  if (result != kCudaSuccess) {
    size_t free = 0;
    size_t total = 0;
    const bool knows = cuda_.MemGetInfo(&free, &total) == kCudaSuccess;
    return ToStatus(result, absl::StrCat(bytes, " bytes asked for",
                                         knows ? absl::StrCat(", ", free, " of ", total, " left")
                                               : std::string()));
  }
  memory.address = address;
  std::lock_guard<std::mutex> lock(mutex_);
  allocations_.emplace(memory.address, memory);
  return memory;
}

void CudaDevice::Free(const DeviceMemory& memory) {
  DeviceMemory freed;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = allocations_.find(memory.address);
    if (found == allocations_.end()) return;
    freed = found->second;
    allocations_.erase(found);
  }
  const CurrentContext current(*this);
  freed.host == nullptr ? cuda_.MemFree(freed.address) : cuda_.MemFreeHost(freed.host);
}

absl::Status CudaDevice::EnqueueCopy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes,
                                     CUstream stream) const {
  const auto size = static_cast<size_t>(bytes);
  const auto status = [&](CUresult result) {
    return ToStatus(result, absl::StrCat("copy of ", bytes, " bytes"));
  };
  if (from.device == this && to.device == this) {
    if (from.memory.address == to.memory.address) return absl::OkStatus();
    return status(cuda_.MemcpyDtoDAsync(Address(to.memory), Address(from.memory), size, stream));
  }
  const MemoryPlace& other = from.device == this ? to : from;
  if (const auto* peer = dynamic_cast<const CudaDevice*>(other.device)) {
    return from.device == this
               ? status(cuda_.MemcpyPeerAsync(Address(to.memory), peer->context(),
                                              Address(from.memory), context_, size, stream))
               : status(cuda_.MemcpyPeerAsync(Address(to.memory), context_, Address(from.memory),
                                              peer->context(), size, stream));
  }
  if (other.memory.host == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat(name_, " does not reach memory of device '", other.device->name(), "'"));
  }
  return from.device == this
             ? status(cuda_.MemcpyDtoHAsync(to.memory.host, Address(from.memory), size, stream))
             : status(cuda_.MemcpyHtoDAsync(Address(to.memory), from.memory.host, size, stream));
}

absl::Status CudaDevice::Copy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  const CurrentContext current(*this);
  SLIPWAY_RETURN_IF_ERROR(current.status());
  SLIPWAY_RETURN_IF_ERROR(EnqueueCopy(from, to, bytes, copies_));
  return ToStatus(cuda_.StreamSynchronize(copies_), absl::StrCat("copy of ", bytes, " bytes"));
}

absl::StatusOr<std::unique_ptr<DeviceCode>> CudaDevice::LoadCode(const v1::Code& code,
                                                                 uint32_t /*abi*/,
                                                                 absl::string_view bytes) {
  return CudaCode::Load(*this, code, bytes);
}

absl::StatusOr<std::unique_ptr<DeviceQueues>> CudaDevice::NewQueues(const QueueOptions& options) {
  SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<CudaQueues> queues, CudaQueues::Create(*this, options));
  return std::unique_ptr<DeviceQueues>(std::move(queues));
}

VendorLibrary* CudaDevice::library_for(const VendorStep& step) {
  if (library_options_.use == LibraryUse::kNever) return nullptr;
  const std::lock_guard<std::mutex> lock(libraries_mutex_);
  const bool is_product = std::holds_alternative<VendorProduct>(step.computed);
  FoundLibrary& found = is_product ? products_ : convolutions_;
  if (!found.is_looked_for) {
    found.is_looked_for = true;
    absl::StatusOr<std::unique_ptr<VendorLibrary>> library =
        (is_product ? CublasLtProducts::Create : CudnnConvolutions::Create)(*this,
                                                                            library_options_);
    if (library.ok()) {
      found.library = *std::move(library);
    } else {
      // Most machines have none.
      Log(absl::IsFailedPrecondition(library.status()) ? LogLevel::kDebug : LogLevel::kWarning,
          "programs run without a library", {{"why", library.status().message()}});
    }
  }
  return found.library.get();
}

}  // namespace slipway
