// BareDevice: a device that a bare runner holds, on another machine.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_BARE_DEVICE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_BARE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/bare_runner/protocol.h"
#include "core/runtime/device.h"
#include "core/runtime/drivers/attached/bare_stream.h"
#include "core/runtime/drivers/attached/kept_constants.h"

namespace slipway {

// Numbers below a limit, each somebody's for a time. Thread-safe.
class BareNumbers {
 public:
  explicit BareNumbers(size_t limit) : taken_(limit) {}
  // RESOURCE_EXHAUSTED says how many `what` there may be.
  absl::StatusOr<uint64_t> Take(absl::string_view what);
  void Return(uint64_t number);

 private:
  std::mutex mutex_;
  std::vector<bool> taken_;
};

// The host reaches its memory by copies alone, and sends no constant that is there. Work is sent when somebody waits for it, as one list, so that a call of a program with known
// sizes is one message there and one back.
class BareDevice final : public ComputeDevice, public std::enable_shared_from_this<BareDevice> {
 public:
  BareDevice(std::shared_ptr<BareStream> stream, const slipway_bare_hello& hello);
  ~BareDevice() override = default;

  absl::string_view name() const override { return name_; }
  bool is_synchronous() const override { return false; }
  absl::StatusOr<MemoryInfo> memory_info() const override;
  absl::StatusOr<DeviceMemory> Allocate(int64_t bytes, MemoryKind kind) override;
  void Free(const DeviceMemory& memory) override;
  absl::StatusOr<DeviceMemory> TakeConstant(absl::string_view key, const DeviceMemory& bytes,
                                            MemoryKind kind) override;
  void ReturnConstant(const DeviceMemory& memory) override;
  absl::Status Copy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceCode>> LoadCode(const v1::Code& code, uint32_t abi,
                                                       absl::string_view bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceQueues>> NewQueues(const QueueOptions& options) override;

  absl::StatusOr<slipway_bare_facts> ReadFacts() const;
  BareStream& stream() const { return *stream_; }
  BareNumbers& code_numbers() { return codes_; }
  BareNumbers& queue_numbers() { return queues_; }
  bool Owns(const MemoryPlace& place) const {
    return place.device == this && place.memory.host == nullptr;
  }
  // UNIMPLEMENTED unless it is this device's or the host's.
  absl::Status CheckReaches(const MemoryPlace& place) const;
  // One end is this device's, the other the host's. Work that was sent before is done before.
  absl::Status Write(const uint8_t* from, uint64_t to, int64_t bytes);
  absl::Status Read(uint64_t from, uint8_t* to, int64_t bytes);

 private:
  // Ok without memory where the device has none.
  absl::StatusOr<std::optional<DeviceMemory>> TryAllocate(int64_t bytes);

  const std::shared_ptr<BareStream> stream_;
  const slipway_bare_hello hello_;
  const std::string name_;
  BareNumbers codes_{SLIPWAY_BARE_MAX_CODES};
  BareNumbers queues_{SLIPWAY_BARE_MAX_QUEUES};
  std::mutex constants_mutex_;
  KeptConstants constants_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_ATTACHED_BARE_DEVICE_H_
