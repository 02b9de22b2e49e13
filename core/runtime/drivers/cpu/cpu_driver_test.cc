#include "core/runtime/drivers/cpu/cpu_driver.h"

#include <memory>
#include <string>

#include "core/runtime/test_programs/small_kernels.h"
#include "core/runtime/testing/driver_test_suite.h"
#include "core/target/target.h"

namespace slipway {
namespace {

DriverUnderTest Cpu() {
  DriverUnderTest test;
  test.name = "Cpu";
  test.open = [] { return *MakeCpuDriver(HostTarget())->Open(0); };
  test.code = SmallKernelCode();
  test.code_bytes = std::string(SmallKernelBytes());
  test.add = static_cast<uint32_t>(SmallKernel::kAdd);
  test.fail = static_cast<uint32_t>(SmallKernel::kFail);
  test.unknown_kind = v1::Code::KIND_PTX;
  return test;
}

INSTANTIATE_TEST_SUITE_P(Cpu, DriverTest, ::testing::Values(Cpu()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace slipway
