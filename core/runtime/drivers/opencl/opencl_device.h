// OpenClDevice: a device of a vendor's OpenCL, with memory that has addresses.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_DEVICE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_DEVICE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/runtime/device.h"
#include "core/runtime/drivers/device_entry.h"
#include "core/runtime/drivers/opencl/binary_cache.h"
#include "core/runtime/drivers/opencl/opencl_library.h"

namespace slipway {

// What a device says of itself.
struct OpenClFacts {
  std::string name;
  std::string vendor;
  std::string driver;
  std::string platform;  // Name and version.
  bool is_cpu = false;
  int64_t memory_bytes = 0;
  int64_t max_allocation_bytes = 0;
  LaunchLimits limits;
  bool has_host_visible_memory = false;  // Fine-grained: both may touch it at one time.
};

// Memory is shared virtual memory (OpenCL 2.0), so that sums of addresses are addresses. The host reaches local memory by
// copies alone, whatever the device is.
class OpenClDevice final : public ComputeDevice {
 public:
  // `cache` may be absent. FAILED_PRECONDITION names what the device lacks.
  static absl::StatusOr<std::shared_ptr<OpenClDevice>> Create(const OpenClLibrary& library,
                                                              cl_platform_id platform,
                                                              cl_device_id id, int ordinal,
                                                              std::optional<BinaryCache> cache);
  ~OpenClDevice() override;

  absl::string_view name() const override { return name_; }
  bool is_synchronous() const override { return false; }
  absl::StatusOr<MemoryInfo> memory_info() const override;
  absl::StatusOr<DeviceMemory> Allocate(int64_t bytes, MemoryKind kind) override;
  void Free(const DeviceMemory& memory) override;
  absl::Status Copy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceCode>> LoadCode(const v1::Code& code, uint32_t abi,
                                                       absl::string_view bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceQueues>> NewQueues(const QueueOptions& options) override;

  const OpenClLibrary& cl() const { return cl_; }
  const OpenClFacts& facts() const { return facts_; }
  cl_context context() const { return context_; }
  cl_device_id id() const { return id_; }
  const std::optional<BinaryCache>& cache() const { return cache_; }

  // The address of a place of this device's or the host's memory. UNIMPLEMENTED names another device whose memory
  // neither the host nor this device reaches.
  absl::StatusOr<void*> Resolve(const MemoryPlace& place) const;
  absl::StatusOr<cl_command_queue> NewQueue() const;

 private:
  OpenClDevice(const OpenClLibrary& library, cl_device_id id, OpenClFacts facts, int ordinal,
               std::optional<BinaryCache> cache);

  const OpenClLibrary& cl_;
  const cl_device_id id_;
  const OpenClFacts facts_;
  const std::string name_;
  const std::optional<BinaryCache> cache_;
  cl_context context_ = nullptr;
  cl_command_queue copies_ = nullptr;  // Thread-safe, as OpenCL's queues are.
  mutable std::mutex mutex_;
  std::map<uint64_t, int64_t> allocations_;  // Bytes by address.
  int64_t allocated_bytes_ = 0;
};

// FAILED_PRECONDITION names what the device lacks that programs of ours need.
absl::StatusOr<OpenClFacts> ReadFacts(const OpenClLibrary& library, cl_platform_id platform,
                                      cl_device_id id);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_OPENCL_OPENCL_DEVICE_H_
