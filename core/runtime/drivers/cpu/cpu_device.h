// CpuDevice: the CPU of this machine. Queued work is done by the call that queues it.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_DEVICE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_DEVICE_H_

#include <memory>

#include "core/runtime/device.h"

namespace slipway {

// Code of kind ELF; memory of both kinds is the host's. A copy reaches whatever the host may touch.
class CpuDevice final : public ComputeDevice {
 public:
  absl::string_view name() const override { return "cpu"; }
  bool is_synchronous() const override { return true; }
  bool is_host() const override { return true; }
  absl::StatusOr<MemoryInfo> memory_info() const override;
  absl::StatusOr<DeviceMemory> Allocate(int64_t bytes, MemoryKind kind) override;
  void Free(const DeviceMemory& memory) override;
  absl::Status Copy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceCode>> LoadCode(const v1::Code& code, uint32_t abi,
                                                       absl::string_view bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceQueues>> NewQueues(const QueueOptions& options) override;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_DEVICE_H_
