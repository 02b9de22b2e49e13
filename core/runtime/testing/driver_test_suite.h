// What every driver must do. A driver's test instantiates it:
//
//   INSTANTIATE_TEST_SUITE_P(Null, DriverTest, ::testing::Values(DriverUnderTest{...}),
//                            [](const auto& info) { return info.param.name; });
#ifndef SLIPWAY_CORE_RUNTIME_TESTING_DRIVER_TEST_SUITE_H_
#define SLIPWAY_CORE_RUNTIME_TESTING_DRIVER_TEST_SUITE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/device.h"
#include "gtest/gtest.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

struct DriverUnderTest {
  std::string name;
  std::function<std::shared_ptr<ComputeDevice>()> open;
  // Code with these kernels, as LoadCode takes it: kernel `add`, two f32 tensors of one shape to their sum; kernel
  // `fail`, which never succeeds, where kernels can say so.
  v1::Code code;
  std::string code_bytes;
  uint32_t add = 0;
  std::optional<uint32_t> fail;
  int fail_inputs = 2;
  // The kind of code that it does not know.
  v1::Code::Kind unknown_kind = v1::Code::KIND_UNSPECIFIED;
  // Launch sizes say how many elements a kernel computes, one each instance.
  bool has_launch_sizes = false;
  // Memory of MemoryKind::kHostVisible; without it, asking is UNIMPLEMENTED.
  bool has_host_visible_memory = true;
};

class DriverTest : public ::testing::TestWithParam<DriverUnderTest> {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Memory that the test frees, with `values` in it if there are some.
  DeviceMemory Upload(const std::vector<float>& values);
  std::vector<float> Download(const DeviceMemory& memory, int64_t count);
  MemoryPlace Place(const DeviceMemory& memory) const { return {device_.get(), memory}; }
  // A descriptor of f32[count] at `memory`.
  slipway_buffer* Describe(const DeviceMemory& memory, int32_t count);
  // Enough instances for `count` elements.
  static LaunchSizes SizesFor(int64_t count);

  std::shared_ptr<ComputeDevice> device_;
  std::unique_ptr<DeviceCode> code_;
  std::unique_ptr<DeviceQueues> queues_;

 private:
  struct Described {
    slipway_buffer buffer = {};
    slipway_dimension dimension = {};
  };
  std::vector<std::unique_ptr<Described>> described_;
  std::vector<DeviceMemory> memory_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_TESTING_DRIVER_TEST_SUITE_H_
