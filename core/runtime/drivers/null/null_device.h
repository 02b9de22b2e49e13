// NullDevice: a device without hardware, for tests and for bringing up what speaks to devices.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_NULL_NULL_DEVICE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_NULL_NULL_DEVICE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/runtime/device.h"

namespace slipway {

struct NullDeviceOptions {
  // What Allocate gives out at most.
  int64_t memory_bytes = int64_t{1} << 30;
  // Appear in what the device is called.
  int ordinal = 0;
};

// As strict as a device may be, so that what runs here is right elsewhere:
//  - The host reaches its local memory by copies alone. Fresh memory is filled with kPoison, and every access
//    outside of an allocation is INTERNAL.
//  - Nothing queued is done before somebody waits for it, and then no more than the wait needs. Finish runs the queue
//    first that got work last: a step that should have waited for an event reads what was there before, every time.
//  - Its code is PTX or OpenCL C by name only: the text is not read. Entries are known by their names, and each
//    instance (its number in the launch, x first) does one element, if there is one of that number:
//      copy_f32 (a -> out)      out[i] = a[i]
//      fill_f32 (a -> out)      out[i] = a[0]
//      add_f32  (a, b -> out)   out[i] = a[i] + b[i]
//      tile_f32 (a -> out)      out[i] = a[i], through memory that a group shares: 4 bytes an instance
//      fail     (a -> out)      ends with an error
//    They read the parameters that Prepare describes; an input with fewer elements than are read is INTERNAL. Any
//    other entry is UNIMPLEMENTED, any other element type INVALID_ARGUMENT.
//  - At most 1024 instances a group, and 48 KiB that it shares.
class NullDevice final : public ComputeDevice {
 public:
  static constexpr uint8_t kPoison = 0xEE;

  explicit NullDevice(const NullDeviceOptions& options = {});
  ~NullDevice() override;

  absl::string_view name() const override { return name_; }
  bool is_synchronous() const override { return false; }
  absl::StatusOr<MemoryInfo> memory_info() const override;
  absl::StatusOr<DeviceMemory> Allocate(int64_t bytes, MemoryKind kind) override;
  void Free(const DeviceMemory& memory) override;
  absl::Status Copy(const MemoryPlace& from, const MemoryPlace& to, int64_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceCode>> LoadCode(const v1::Code& code, uint32_t abi,
                                                       absl::string_view bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceQueues>> NewQueues(const QueueOptions& options) override;

  // `bytes` at an address of this device. INTERNAL if they are not within one allocation.
  absl::StatusOr<uint8_t*> Resolve(uint64_t address, int64_t bytes) const;
  // The bytes of a place: this device's, another null device's or the host's. UNIMPLEMENTED for other devices.
  absl::StatusOr<uint8_t*> Resolve(const MemoryPlace& place, int64_t bytes) const;

  // What queues were told, a line each in the order in which it was done: "queue 1: add_f32 of 8 instances",
  // "queue 0: copy of 32 bytes", "queue 1: wait".
  std::vector<std::string> trace() const;
  void Trace(std::string line);

 private:
  const int64_t memory_bytes_;
  const std::string name_;
  mutable std::mutex mutex_;
  std::map<uint64_t, int64_t> allocations_;  // Bytes by address.
  int64_t allocated_bytes_ = 0;
  std::vector<std::string> trace_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_NULL_NULL_DEVICE_H_
