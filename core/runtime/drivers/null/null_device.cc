#include "core/runtime/drivers/null/null_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/artifact/limits.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/null/null_kernels.h"
#include "core/runtime/drivers/null/null_queues.h"

namespace slipway {

NullDevice::NullDevice(const NullDeviceOptions& options)
    : memory_bytes_(options.memory_bytes), name_(absl::StrCat("null ", options.ordinal)) {}

NullDevice::~NullDevice() {
  for (const auto& [address, bytes] : allocations_) free(reinterpret_cast<void*>(address));
}

absl::StatusOr<MemoryInfo> NullDevice::memory_info() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return MemoryInfo{memory_bytes_, memory_bytes_ - allocated_bytes_};
}

absl::StatusOr<DeviceMemory> NullDevice::Allocate(int64_t bytes, MemoryKind kind) {
  std::lock_guard<std::mutex> lock(mutex_);
  void* data = nullptr;
  const auto size = static_cast<size_t>(std::max(bytes, kBufferAlignment));
  if (bytes > memory_bytes_ - allocated_bytes_ ||
      posix_memalign(&data, kBufferAlignment, size) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat(name_, ": ", bytes, " bytes asked for, ",
                                                     memory_bytes_ - allocated_bytes_, " of ",
                                                     memory_bytes_, " left"));
  }
  std::memset(data, kPoison, size);
  const auto address = reinterpret_cast<uint64_t>(data);
  allocations_.emplace(address, bytes);
  allocated_bytes_ += bytes;
  return DeviceMemory{
      address, kind == MemoryKind::kHostVisible ? static_cast<uint8_t*>(data) : nullptr, bytes};
}

void NullDevice::Free(const DeviceMemory& memory) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = allocations_.find(memory.address);
  if (found == allocations_.end()) return;
  allocated_bytes_ -= found->second;
  allocations_.erase(found);
  free(reinterpret_cast<void*>(memory.address));
}

absl::StatusOr<uint8_t*> NullDevice::Resolve(uint64_t address, int64_t bytes) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto after = allocations_.upper_bound(address);
  if (after != allocations_.begin()) {
    const auto& [begin, size] = *--after;
    const auto offset = static_cast<int64_t>(address - begin);
    if (offset <= size && bytes <= size - offset) return reinterpret_cast<uint8_t*>(address);
  }
  return absl::InternalError(
      absl::StrCat(name_, ": ", bytes, " bytes at ", absl::Hex(address), " are not allocated"));
}

absl::StatusOr<uint8_t*> NullDevice::Resolve(const MemoryPlace& place, int64_t bytes) const {
  if (const auto* owner = dynamic_cast<const NullDevice*>(place.device)) {
    return owner->Resolve(place.memory.address, bytes);
  }
  if (place.memory.host != nullptr) return place.memory.host;
  return absl::UnimplementedError(
      absl::StrCat(name_, " does not reach memory of device '", place.device->name(), "'"));
}

absl::Status NullDevice::Copy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  SLIPWAY_ASSIGN_OR_RETURN(const uint8_t* const source, Resolve(from, bytes));
  SLIPWAY_ASSIGN_OR_RETURN(uint8_t* const target, Resolve(to, bytes));
  std::memmove(target, source, static_cast<size_t>(bytes));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<DeviceCode>> NullDevice::LoadCode(const v1::Code& code,
                                                                 uint32_t /*abi*/,
                                                                 absl::string_view /*bytes*/) {
  return LoadNullCode(code);
}

absl::StatusOr<std::unique_ptr<DeviceQueues>> NullDevice::NewQueues(
    const QueueOptions& /*options*/) {
  return std::unique_ptr<DeviceQueues>(std::make_unique<NullQueues>(*this));
}

std::vector<std::string> NullDevice::trace() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return trace_;
}

void NullDevice::Trace(std::string line) {
  std::lock_guard<std::mutex> lock(mutex_);
  trace_.push_back(std::move(line));
}

}  // namespace slipway
