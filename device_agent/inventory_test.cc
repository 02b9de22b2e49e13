#include "device_agent/inventory.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using v1::DeviceInventory;

// A machine made of files.
class InventoryTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(root_, TemporaryFolder::Create("machine")); }

  void Put(const std::string& path, absl::string_view text) {
    const std::string file = root_.path() + path;
    ASSERT_OK(MakeFolders(file.substr(0, file.rfind('/'))));
    ASSERT_OK(WriteFileAtomically(file, text, /*durable=*/false));
  }
  void PutCpu(int cpu, const std::string& file, int64_t number) {
    Put(absl::StrCat("/sys/devices/system/cpu/cpu", cpu, "/", file), absl::StrCat(number, "\n"));
  }
  void PutSupply(const std::string& supply, const std::string& file, absl::string_view text) {
    Put(absl::StrCat("/sys/class/power_supply/", supply, "/", file), absl::StrCat(text, "\n"));
  }
  DeviceInventory Read(const std::vector<int>& cpus = {}) {
    return ReadInventory(root_.path(), cpus);
  }
  // CORES x CAPACITY @ HERTZ of each kind.
  std::string Kinds(const std::vector<int>& cpus) {
    std::string text;
    const DeviceInventory inventory = Read(cpus);
    for (const DeviceInventory::CoreKind& kind : inventory.core_kinds()) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", kind.cores(), "x", kind.capacity(), "@",
                      kind.max_frequency_hz());
    }
    return text;
  }

  TemporaryFolder root_;
};

TEST_F(InventoryTest, CoresAreToldApartByTheirCapacity) {
  for (const int cpu : {0, 1, 2, 3}) PutCpu(cpu, "cpu_capacity", 446);
  for (const int cpu : {4, 5, 6}) PutCpu(cpu, "cpu_capacity", 871);
  PutCpu(7, "cpu_capacity", 1024);
  PutCpu(7, "cpufreq/cpuinfo_max_freq", 2841600);
  EXPECT_EQ(Kinds({0, 1, 2, 3, 4, 5, 6, 7}), "1x1024@2841600000, 3x871@0, 4x446@0");
  // Those alone that the agent may use.
  EXPECT_EQ(Kinds({1, 5}), "1x871@0, 1x446@0");
}

TEST_F(InventoryTest, OrByTheirFrequencies) {
  // A Core i7-12700 with two favoured cores.
  PutCpu(0, "cpufreq/cpuinfo_max_freq", 4900000);
  PutCpu(1, "cpufreq/cpuinfo_max_freq", 4900000);
  PutCpu(2, "cpufreq/cpuinfo_max_freq", 4800000);
  PutCpu(3, "cpufreq/cpuinfo_max_freq", 3600000);
  EXPECT_EQ(Kinds({0, 1, 2, 3}), "3x1024@4900000000, 1x752@3600000000");
  EXPECT_EQ(Kinds({2}), "1x1024@4800000000");
}

TEST_F(InventoryTest, OfCoresThatNothingTellsApartNothingIsSaid) {
  EXPECT_EQ(Kinds({0, 1}), "");
  PutCpu(0, "cpu_capacity", -5);
  PutCpu(1, "cpufreq/cpuinfo_max_freq", -1);
  EXPECT_EQ(Kinds({0, 1}), "");
}

TEST_F(InventoryTest, PowerComesFromTheMainsOrABattery) {
  EXPECT_EQ(Read().power(), DeviceInventory::POWER_UNSPECIFIED);
  EXPECT_FALSE(Read().has_charge_percent());
  PutSupply("BAT0", "type", "Battery");
  PutSupply("BAT0", "status", "Discharging");
  PutSupply("BAT0", "capacity", "87");
  PutSupply("AC", "type", "Mains");
  PutSupply("AC", "online", "0");
  EXPECT_EQ(Read().power(), DeviceInventory::BATTERY);
  EXPECT_EQ(Read().charge_percent(), 80);
  PutSupply("AC", "online", "1");
  PutSupply("BAT0", "status", "Charging");
  EXPECT_EQ(Read().power(), DeviceInventory::MAINS);
  PutSupply("BAT0", "capacity", "400");
  EXPECT_EQ(Read().charge_percent(), 100);
}

TEST_F(InventoryTest, TheBatteryOfAMouseIsNoneOfTheMachines) {
  PutSupply("hid-1", "type", "Battery");
  PutSupply("hid-1", "scope", "Device");
  PutSupply("hid-1", "status", "Discharging");
  PutSupply("hid-1", "capacity", "5");
  EXPECT_EQ(Read().power(), DeviceInventory::POWER_UNSPECIFIED);
  EXPECT_FALSE(Read().has_charge_percent());
}

TEST_F(InventoryTest, AHypervisorIsSeen) {
  EXPECT_EQ(Read().machine(), DeviceInventory::MACHINE_UNSPECIFIED);
  Put("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse2 avx2\n\nflags\t: x\n");
  EXPECT_EQ(Read().machine(), DeviceInventory::PHYSICAL);
  Put("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor avx2\n");
  EXPECT_EQ(Read().machine(), DeviceInventory::VIRTUAL);
  Put("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n");
  Put("/proc/device-tree/model", "a board");
  EXPECT_EQ(Read().machine(), DeviceInventory::PHYSICAL);
  Put("/proc/device-tree/hypervisor/compatible", "xen,xen");
  EXPECT_EQ(Read().machine(), DeviceInventory::VIRTUAL);
}

TEST_F(InventoryTest, TheModelIsWhatNamesTheMachine) {
  EXPECT_EQ(ReadModel(root_.path()), "");
  Put("/sys/class/dmi/id/product_name", "Altra\n");
  EXPECT_EQ(ReadModel(root_.path()), "Altra");
  Put("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 108.00\nCPU implementer\t: 0x41\n");
  Put("/proc/device-tree/model", absl::string_view("Raspberry Pi 4 Model B Rev 1.4\0", 31));
  EXPECT_EQ(ReadModel(root_.path()), "Raspberry Pi 4 Model B Rev 1.4");
  Put("/proc/device-tree/model", "board\xff");
  EXPECT_EQ(ReadModel(root_.path()), "board?");
  Put("/proc/cpuinfo", "processor\t: 0\nmodel\t: 1\nmodel name\t: AMD EPYC\n");
  EXPECT_EQ(ReadModel(root_.path()), "AMD EPYC");
}

TEST_F(InventoryTest, AcceleratorsAreNamed) {
  const auto put_pci = [this](const std::string& at, const std::string& kind,
                              const std::string& vendor, const std::string& device) {
    Put("/sys/bus/pci/devices/" + at + "/class", kind + "\n");
    Put("/sys/bus/pci/devices/" + at + "/vendor", vendor + "\n");
    Put("/sys/bus/pci/devices/" + at + "/device", device + "\n");
  };
  put_pci("0000:00:02.0", "0x030000", "0x1234", "0x1111");  // A display.
  put_pci("0000:00:03.0", "0x120000", "0x1ac1", "0x089a");
  put_pci("0000:00:04.0", "0x030200", "0x10de", "0x2330");
  EXPECT_THAT(Read().accelerators(), ::testing::ElementsAre("PCI 1ac1:089a", "PCI 10de:2330"));
  Put("/proc/driver/nvidia/gpus/0000:00:04.0/information",
      "Model: \t\t NVIDIA H100\nIRQ:   	 12\n");
  EXPECT_THAT(Read().accelerators(), ::testing::ElementsAre("NVIDIA H100", "PCI 1ac1:089a"));
  v1::DeviceInventory named = Read();
  NameGpus({}, named);
  EXPECT_THAT(named.accelerators(), ::testing::ElementsAre("NVIDIA H100", "PCI 1ac1:089a"));
  NameGpus({"NVIDIA H100, sm90", "NVIDIA L4, sm89"}, named);
  EXPECT_THAT(named.accelerators(),
              ::testing::ElementsAre("NVIDIA H100, sm90", "NVIDIA L4, sm89", "PCI 1ac1:089a"));
  for (int i = 0; i < 40; ++i) put_pci(absl::StrCat("x", i), "0x120000", "0x1", "0x2");
  EXPECT_EQ(Read().accelerators_size(), 16);
}

TEST_F(InventoryTest, WhatAFileHoldsIsMadeATextOfTheProtocol) {
  Put("/proc/sys/kernel/osrelease", "6.1.0-18-arm64\n");
  EXPECT_EQ(Read().kernel(), "6.1.0-18-arm64");
  Put("/proc/sys/kernel/osrelease", "6.1\xff");
  EXPECT_EQ(Read().kernel(), "6.1?");
  Put("/proc/sys/kernel/osrelease", std::string(5'000, 'v'));
  EXPECT_EQ(Read().kernel().size(), 255u);
}

TEST_F(InventoryTest, FreeStorageIsToldInSixteenths) {
  EXPECT_EQ(RoundedFree(1600, 1599), 1500);
  EXPECT_EQ(RoundedFree(1600, 1500), 1500);
  EXPECT_EQ(RoundedFree(1600, 99), 0);
  EXPECT_EQ(RoundedFree(1600, 1600), 1600);
  EXPECT_EQ(RoundedFree(1600, 9'000), 1600);
  EXPECT_EQ(RoundedFree(1600, -1), 0);
  EXPECT_EQ(RoundedFree(0, 5), 0);
  DeviceInventory inventory;
  AddStorage(root_.path(), inventory);
  EXPECT_GT(inventory.storage_bytes(), 1 << 20);
  EXPECT_LE(inventory.storage_free_bytes(), inventory.storage_bytes());
  DeviceInventory none;
  AddStorage(root_.path() + "/none", none);
  EXPECT_EQ(none.storage_bytes(), 0);
}

}  // namespace
}  // namespace slipway
