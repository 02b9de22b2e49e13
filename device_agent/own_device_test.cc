#include "device_agent/own_device.h"

#include "core/base/files.h"
#include "core/base/machine_memory.h"
#include "core/target/target.h"
#include "core/wire/device_attributes_proto.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

TEST(DescribeThisMachine, IsOfThisMachine) {
  ASSERT_OK_AND_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Create("cache"));
  ASSERT_OK_AND_ASSIGN(
      const v1::DeviceDescription device,
      DescribeThisMachine(folder.path(), /*accelerator_folder=*/"", /*require_confinement=*/false));
  EXPECT_EQ(device.id(), "");
  EXPECT_EQ(device.target(), HostTarget().ToString());
  EXPECT_GT(device.cores(), 0);
  EXPECT_GT(device.memory_bytes(), 1 << 20);
  EXPECT_EQ(device.memory_bytes(), MachineMemoryBytes());
  EXPECT_TRUE(device.has_confinement());
  EXPECT_OK(CheckInventory(device.inventory()));
  EXPECT_FALSE(device.inventory().kernel().empty());
  EXPECT_GT(device.inventory().storage_bytes(), 0);
}

}  // namespace
}  // namespace slipway
