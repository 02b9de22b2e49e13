// HeldTensor: f32 elements in a device's memory, for tests of drivers.
#ifndef SLIPWAY_CORE_RUNTIME_TESTING_HELD_TENSOR_H_
#define SLIPWAY_CORE_RUNTIME_TESTING_HELD_TENSOR_H_

#include <cstdint>
#include <vector>

#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/device.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {

// Its memory goes with it, which the device outlives. Dense; extents are given innermost first.
struct HeldTensor {
  HeldTensor(ComputeDevice& owner, std::vector<int32_t> innermost_first) : device(owner) {
    int64_t count = 1;
    for (const int32_t extent : innermost_first) {
      dimensions.push_back({0, extent, static_cast<int32_t>(count), 0});
      count *= extent;
    }
    memory = *device.Allocate(4 * count, MemoryKind::kLocal);
    buffer.device = memory.address;
    buffer.type = {SLIPWAY_TYPE_FLOAT, 32, 1};
    buffer.dimensions = static_cast<int32_t>(dimensions.size());
    buffer.dim = dimensions.data();
  }
  ~HeldTensor() { device.Free(memory); }
  HeldTensor(const HeldTensor&) = delete;
  HeldTensor& operator=(const HeldTensor&) = delete;

  MemoryPlace place() const { return {&device, memory}; }
  void Write(std::vector<float> values) {
    EXPECT_OK(device.Copy({nullptr, {0, reinterpret_cast<uint8_t*>(values.data()), memory.bytes}},
                          place(), memory.bytes));
  }
  std::vector<float> Read() {
    std::vector<float> values(static_cast<size_t>(memory.bytes / 4));
    EXPECT_OK(device.Copy(place(),
                          {nullptr, {0, reinterpret_cast<uint8_t*>(values.data()), memory.bytes}},
                          memory.bytes));
    return values;
  }

  ComputeDevice& device;
  DeviceMemory memory;
  std::vector<slipway_dimension> dimensions;
  slipway_buffer buffer = {};  // What launches are prepared with.
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_TESTING_HELD_TENSOR_H_
