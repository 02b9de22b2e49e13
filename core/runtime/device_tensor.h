// DeviceTensor: a tensor that stays on a device.
#ifndef SLIPWAY_CORE_RUNTIME_DEVICE_TENSOR_H_
#define SLIPWAY_CORE_RUNTIME_DEVICE_TENSOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "core/runtime/device.h"
#include "core/tensor/tensor.h"

namespace slipway {

// Where tensors lie: a device and a kind of its memory.
struct TensorPlace {
  std::shared_ptr<ComputeDevice> device;
  MemoryKind kind = MemoryKind::kLocal;

  friend bool operator==(const TensorPlace& a, const TensorPlace& b) = default;
};

// A cheap handle on memory of a device, dense and row-major; copies share the memory, which lives as long as one
// of them, and keep the device. Handles are thread-compatible.
class DeviceTensor {
 public:
  DeviceTensor() = default;  // Unset: without memory.

  // With undefined elements. Errors of Tensor::Create and ComputeDevice::Allocate.
  static absl::StatusOr<DeviceTensor> Create(TensorPlace place, TensorType type);
  // A copy. Errors of Create and ComputeDevice::Copy.
  static absl::StatusOr<DeviceTensor> FromHost(TensorPlace place, const Tensor& tensor);
  // A copy on the host. Errors of Tensor::Create and ComputeDevice::Copy.
  absl::StatusOr<Tensor> ToHost() const;

  bool is_set() const { return memory_ != nullptr; }
  const TensorType& type() const { return type_; }
  // REQUIRES: is_set().
  const TensorPlace& place() const { return memory_->place; }
  const DeviceMemory& memory() const { return memory_->memory; }

 private:
  struct Memory {
    Memory(TensorPlace at, const DeviceMemory& bytes) : place(std::move(at)), memory(bytes) {}
    ~Memory() { place.device->Free(memory); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    const TensorPlace place;
    const DeviceMemory memory;
  };

  TensorType type_;
  std::shared_ptr<const Memory> memory_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DEVICE_TENSOR_H_
