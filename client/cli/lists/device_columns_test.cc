#include "client/cli/lists/device_columns.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway::cli {
namespace {

using slipway::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Device Named(const std::string& id, int64_t memory_bytes) {
  return {.id = id, .memory_bytes = memory_bytes};
}

std::vector<std::string> Sorted(absl::string_view by, std::vector<Device> devices) {
  EXPECT_OK(SortDevices(by, devices));
  std::vector<std::string> ids;
  for (const Device& device : devices) ids.push_back(device.id);
  return ids;
}

std::vector<std::string> Names(const std::vector<const DeviceColumn*>& columns) {
  std::vector<std::string> names;
  for (const DeviceColumn* column : columns) names.emplace_back(column->name);
  return names;
}

TEST(DeviceColumnsTest, NumbersAreSortedFromTheLargest) {
  EXPECT_THAT(Sorted("memory", {Named("a", 1), Named("b", 10), Named("c", 9), Named("d", 10)}),
              ElementsAre("b", "d", "c", "a"));
  EXPECT_THAT(Sorted("id", {Named("b", 1), Named("a", 2)}), ElementsAre("a", "b"));
}

TEST(DeviceColumnsTest, WhatIsNotKnownComesLast) {
  Device full = Named("full", 0);
  full.inventory = DeviceInventory{.kernel = "5.10", .storage_bytes = 100};
  Device empty = Named("empty", 0);
  empty.inventory =
      DeviceInventory{.kernel = "6.1", .storage_bytes = 100, .storage_free_bytes = 50};
  const Device silent = Named("silent", 0);
  EXPECT_THAT(Sorted("storage-free", {silent, full, empty}),
              ElementsAre("empty", "full", "silent"));
  EXPECT_THAT(Sorted("kernel", {silent, empty, full}), ElementsAre("full", "empty", "silent"));
}

TEST(DeviceColumnsTest, CellsTellWhatIsKnown) {
  Device device = Named("a", 0);
  const auto cell = [&device](absl::string_view column) {
    return ParseColumns(column)->front()->cell(device, absl::UnixEpoch());
  };
  EXPECT_EQ(cell("power"), "");
  EXPECT_EQ(cell("machine"), "");
  EXPECT_EQ(cell("storage-free"), "");
  EXPECT_EQ(cell("temperature"), "");
  EXPECT_EQ(cell("load"), "");
  device.machine = MachineState{.load_millis = 250};
  EXPECT_EQ(cell("temperature"), "");
  EXPECT_EQ(cell("load"), "0.25");
  device.machine->temperature_millicelsius = 54'250;
  EXPECT_EQ(cell("temperature"), "54.2 C");
  device.inventory = DeviceInventory{.storage_bytes = 4 << 20,
                                     .storage_free_bytes = 1 << 20,
                                     .power = PowerSource::kBattery,
                                     .charge_percent = 80,
                                     .machine = MachineKind::kVirtual,
                                     .accelerators = {"NVIDIA H100", "PCI 1:2"}};
  device.labels = {{.key = "lab", .value = "berlin"}, {.key = "rack", .value = ""}};
  EXPECT_EQ(cell("power"), "battery, 80 %");
  EXPECT_EQ(cell("machine"), "virtual");
  EXPECT_EQ(cell("storage-free"), "1.0 MiB");
  EXPECT_EQ(cell("accelerators"), "NVIDIA H100, PCI 1:2");
  EXPECT_EQ(cell("labels"), "lab=berlin rack=");
}

TEST(DeviceColumnsTest, LabelsAreShownWhereThereAreSome) {
  std::vector<Device> devices = {Named("a", 0)};
  EXPECT_THAT(Names(UsualColumns(devices)),
              ElementsAre("id", "state", "target", "cores", "memory", "seen", "model"));
  devices[0].labels = {{.key = "lab", .value = "berlin"}};
  EXPECT_EQ(Names(UsualColumns(devices)).back(), "labels");
}

TEST(DeviceColumnsTest, AColumnThatIsNoneIsAnsweredWithThoseThatThereAre) {
  ASSERT_OK_AND_ASSIGN(const auto columns, ParseColumns("labels,id"));
  EXPECT_THAT(Names(columns), ElementsAre("labels", "id"));
  for (const char* bad : {"color", "", "id,,cores", "id, cores"}) {
    EXPECT_THAT(ParseColumns(bad),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("there are id, state, ")));
  }
  std::vector<Device> devices;
  EXPECT_THAT(SortDevices("speed", devices),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no column \"speed\"")));
}

}  // namespace
}  // namespace slipway::cli
