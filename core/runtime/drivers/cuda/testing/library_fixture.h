// What tests of fakes of NVIDIA's libraries need: a device over the libcuda without a GPU, and tensors in its memory.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_LIBRARY_FIXTURE_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_LIBRARY_FIXTURE_H_

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/artifact/vendor_step.h"
#include "core/base/files.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/runtime/device.h"
#include "core/runtime/drivers/cuda/cuda_driver.h"
#include "core/runtime/vendor_library.h"
#include "core/tensor/float16.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {

// Numbers that f16 and bf16 have.
inline float NumberAt(int64_t i) { return static_cast<float>((i * 7 + 3) % 16 - 8) / 8; }

inline uint16_t Narrowed(float value, DataType dtype) {
  return dtype == DataType::kFloat16 ? FloatToFloat16(value) : FloatToBfloat16(value);
}

// Elements in a device's memory.
class DeviceTensorOf {
 public:
  DeviceTensorOf(ComputeDevice& device, int64_t count, DataType dtype) : device_(device) {
    const int64_t size = ByteSize(dtype);
    memory_ = *device.Allocate(count * size, MemoryKind::kLocal);
    std::vector<uint8_t> bytes(static_cast<size_t>(count * size));
    for (int64_t i = 0; i < count; ++i) {
      const float value = NumberAt(i);
      if (dtype == DataType::kFloat32) {
        reinterpret_cast<float*>(bytes.data())[i] = value;
      } else {
        reinterpret_cast<uint16_t*>(bytes.data())[i] = Narrowed(value, dtype);
      }
    }
    EXPECT_OK(device.Copy({nullptr, {0, bytes.data(), memory_.bytes}}, {&device, memory_},
                          memory_.bytes));
    buffer.device = memory_.address;
  }
  ~DeviceTensorOf() { device_.Free(memory_); }
  DeviceTensorOf(const DeviceTensorOf&) = delete;
  DeviceTensorOf& operator=(const DeviceTensorOf&) = delete;

  std::vector<float> Read() const {
    std::vector<float> values(static_cast<size_t>(memory_.bytes / 4));
    EXPECT_OK(device_.Copy({&device_, memory_},
                           {nullptr, {0, reinterpret_cast<uint8_t*>(values.data()), memory_.bytes}},
                           memory_.bytes));
    return values;
  }

  slipway_buffer buffer = {};

 private:
  ComputeDevice& device_;
  DeviceMemory memory_;
};

// Tensors of a step in a device's memory, and its arguments.
struct HeldStep {
  // How many elements each tensor has, and of which type factors are.
  struct Sizes {
    std::array<int64_t, 2> factors = {};
    std::array<DataType, 2> types = {};
    int64_t result = 0;
    int64_t bias = 0;
  };

  HeldStep(ComputeDevice& device, const VendorStep& step, const Sizes& sizes)
      : first(device, sizes.factors[0], sizes.types[0]),
        second(device, sizes.factors[1], sizes.types[1]),
        result(device, sizes.result, DataType::kFloat32),
        bias(device, sizes.bias, DataType::kFloat32),
        added(device, sizes.result, DataType::kFloat32),
        arguments{{&first.buffer, &second.buffer},
                  &result.buffer,
                  step.bias.has_value() ? &bias.buffer : nullptr,
                  step.added.has_value() ? &added.buffer : nullptr} {}

  DeviceTensorOf first;
  DeviceTensorOf second;
  DeviceTensorOf result;
  DeviceTensorOf bias;
  DeviceTensorOf added;
  LibraryArguments arguments;
};

// What happens to an element last.
inline float Activated(VendorStep::Activation activation, double x) {
  if (activation == VendorStep::Activation::kRelu) x = std::max(x, 0.0);
  if (activation == VendorStep::Activation::kGeluTanh) {
    x *= (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))) / 2;
  }
  return static_cast<float>(x);
}

class LibraryFixture : public ::testing::Test {
 protected:
  void SetUp() override { Open(""); }
  void TearDown() override {
    device_.reset();
    unsetenv("SLIPWAY_FAKE_CUDA");
    unsetenv("SLIPWAY_FAKE_CUDA_TRACE");
  }

  void Open(const std::string& settings, LibraryUse use = LibraryUse::kMeasured) {
    device_.reset();
    Set(settings);
    ASSERT_OK_AND_ASSIGN(device_, MakeCudaDriver({.libraries = {.use = use}})->Open(0));
  }
  static void Set(const std::string& settings) { setenv("SLIPWAY_FAKE_CUDA", settings.c_str(), 1); }

  // Launches it over these tensors once.
  void ExpectRuns(LibraryWay& way, const HeldStep& held, const std::vector<float>& expected) {
    ASSERT_OK_AND_ASSIGN(const auto queues, device_->NewQueues({}));
    ASSERT_OK_AND_ASSIGN(const auto launch, queues->PrepareLibrary(way, held.arguments, "a step"));
    ASSERT_OK(queues->Launch(3, *launch, {}));
    ASSERT_OK(queues->Finish());
    EXPECT_THAT(held.result.Read(), ::testing::Pointwise(::testing::FloatNear(1e-5F), expected));
  }

  // Launches it three times, each time over the first tensors, the second and the first again. `told` is what the fake did then.
  void ExpectRepeats(LibraryWay& way, const HeldStep& first, const HeldStep& second,
                     const std::vector<float>& expected, std::string& told) {
    ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("library"));
    const std::string trace = JoinPath(folder.path(), "trace");
    ASSERT_OK_AND_ASSIGN(const auto queues, device_->NewQueues({}));
    std::vector<std::unique_ptr<DeviceLaunch>> launches;
    for (const HeldStep* const held : {&first, &second, &first}) {
      ASSERT_OK_AND_ASSIGN(auto launch, queues->PrepareLibrary(way, held->arguments, "a step"));
      launches.push_back(std::move(launch));
    }
    setenv("SLIPWAY_FAKE_CUDA_TRACE", trace.c_str(), 1);
    for (int run = 0; run < 3; ++run) {
      for (const auto& launch : launches) ASSERT_OK(queues->Launch(0, *launch, {}));
      ASSERT_OK(queues->Finish());
      for (const HeldStep* const held : {&first, &second}) {
        EXPECT_THAT(held->result.Read(),
                    ::testing::Pointwise(::testing::FloatNear(1e-5F), expected));
      }
    }
    ASSERT_OK_AND_ASSIGN(told, ReadFile(trace, 1 << 20));
  }

  std::shared_ptr<ComputeDevice> device_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CUDA_TESTING_LIBRARY_FIXTURE_H_
