#include "device_agent/attached/machine_files.h"

#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/target/measure_machine.h"
#include "core/target/target.h"
#include "device_agent/inventory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/command.h"
#include "tests/common/temp_tree.h"

namespace slipway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// By this machine's shells, of itself.
TEST(MachineFilesTest, SayWhatTheFilesThemselvesSay) {
  for (const char* shell : {"/bin/sh", "/bin/bash"}) {
    const testing::CommandResult result =
        testing::RunCommand({.argv = {shell, "-c", MachineFilesLine()}});
    ASSERT_TRUE(result.status.ok()) << result.ToString();
    const testing::TempTree tree;
    WriteMachineFiles(result.out, tree.path());
    std::vector<int> all(std::thread::hardware_concurrency());
    std::iota(all.begin(), all.end(), 0);
    v1::DeviceInventory there = ReadInventory(tree.path(), all);
    v1::DeviceInventory here = ReadInventory("", all);
    here.clear_accelerators();
    EXPECT_EQ(there.DebugString(), here.DebugString()) << shell;
    EXPECT_EQ(there.kernel(), here.kernel());
    const CacheSizes caches =
        CachesOf(HostTarget().host(), tree.path() + "/sys/devices/system/cpu/cpu0/cache");
    EXPECT_EQ(caches.l1.bytes, HostCaches().l1.bytes);
    EXPECT_EQ(caches.l2.bytes, HostCaches().l2.bytes);
    EXPECT_EQ(caches.l3.bytes, HostCaches().l3.bytes);
    EXPECT_EQ(caches.l3.processors, HostCaches().l3.processors);
  }
}

TEST(MachineFilesTest, BecomeFilesOfAPhone) {
  const testing::TempTree tree;
  WriteMachineFiles(
      "welcome\r\nslipway-file /proc/sys/kernel/osrelease=5.15.0-android13\r\n"
      "slipway-file /sys/devices/system/cpu/cpu0/cpu_capacity=250\r\n"
      "slipway-file /sys/devices/system/cpu/cpu7/cpu_capacity=1024\r\n"
      "slipway-file /sys/devices/system/cpu/cpu7/cpufreq/cpuinfo_max_freq=2850000\r\n"
      "slipway-file /sys/class/power_supply/battery/type=Battery\r\n"
      "slipway-file /sys/class/power_supply/battery/status=Discharging\r\n"
      "slipway-file /sys/class/power_supply/battery/capacity=87\r\n",
      tree.path());
  const std::vector<int> processors = ProcessorsOf(tree.path());
  EXPECT_THAT(processors, ElementsAre(0, 7));
  const v1::DeviceInventory inventory = ReadInventory(tree.path(), processors);
  ASSERT_EQ(inventory.core_kinds_size(), 2);
  EXPECT_EQ(inventory.core_kinds(0).max_frequency_hz(), 2'850'000'000);
  EXPECT_EQ(inventory.core_kinds(1).capacity(), 250);
  EXPECT_EQ(inventory.kernel(), "5.15.0-android13");
  EXPECT_EQ(inventory.power(), v1::DeviceInventory::BATTERY);
  EXPECT_EQ(inventory.charge_percent(), 80);
}

TEST(MachineFilesTest, WhatIsNoneIsLeftOut) {
  const testing::TempTree tree;
  std::string printed;
  for (const char* path :
       {"/etc/passwd", "/sys/../../etc/x", "/sys/./x", "/sys//x", "/proc/", "/sys/a b", "/sys/\x01",
        "sys/x", "", "/proc/..", "/sys/x/..", "/sysx/y"}) {
    printed += "slipway-file " + std::string(path) + "=1\n";
  }
  printed += "slipway-file /sys/without\n" + std::string("slipway-file /sys/") +
             std::string(300, 'a') + "=1\nslipway-file /sys/long=" + std::string(10'000, 'b');
  WriteMachineFiles(printed, tree.path());
  EXPECT_THAT(ProcessorsOf(tree.path()), IsEmpty());
  EXPECT_FALSE(tree.Exists("sys"));
  EXPECT_FALSE(tree.Exists("proc"));
  // A file that is a folder, and the other way around; too many.
  WriteMachineFiles(
      "slipway-file /sys/a=1\nslipway-file /sys/a/b=1\nslipway-file /sys/c/d=1\n"
      "slipway-file /sys/c=1\n",
      tree.path());
  EXPECT_TRUE(tree.Exists("sys/a"));
  EXPECT_TRUE(tree.Exists("sys/c/d"));
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "slipway-file /proc/f" + std::to_string(i) + "=1\n";
  WriteMachineFiles(many, tree.path());
  EXPECT_TRUE(tree.Exists("proc/f1999"));
  EXPECT_FALSE(tree.Exists("proc/f2000"));
}

}  // namespace
}  // namespace slipway
