#include "core/wire/device_attributes_proto.h"

#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/selector/selector.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/common/status_matchers.h"

namespace slipway {
namespace {

using slipway::testing::IsOkAndHolds;
using slipway::testing::StatusIs;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

v1::DeviceDescription Phone() {
  v1::DeviceDescription phone;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(id: "phone-1"
           target: "arm-64-android-dotprod,opencl"
           model: "Cortex X1"
           cores: 8
           memory_bytes: 8589934592
           os: "Android 13, Linux 5.10"
           inventory {
             core_kinds { cores: 1 capacity: 1024 }
             core_kinds { cores: 3 capacity: 871 }
             core_kinds { cores: 4 capacity: 446 }
             kernel: "5.10.66"
             storage_bytes: 137438953472
             storage_free_bytes: 8589934592
             power: BATTERY
             charge_percent: 80
             machine: PHYSICAL
             accelerators: "Mali-G78"
           }
           labels { key: "lab" value: "berlin" }
           labels { key: "owner" value: "ada" })pb",
      &phone));
  return phone;
}

TEST(DeviceAttributesProtoTest, WhatADeviceSaysCanBeSelected) {
  const DeviceAttributes phone = AttributesOf(Phone(), {{"lab", "munich"}, {"rack", "2"}});
  for (const char* text :
       {"id=phone-1", "arch=arm-64", "target=arm-64-android*", "feature=dotprod",
        "accelerator=opencl accelerator=Mali*", "model=\"Cortex X1\"", "os=Android*",
        "kernel=5.10.*", "machine=physical", "power=battery", "cores=8", "performance-cores=4",
        "efficiency-cores=4", "memory=8GiB", "storage=128GiB", "storage-free>=8GiB", "charge=80",
        "label:owner=ada", "label:rack=2",
        // Administrators go before.
        "label:lab=munich"}) {
    ASSERT_OK_AND_ASSIGN(const Selector selector, Selector::Parse(text));
    EXPECT_TRUE(selector.Matches(phone)) << text;
  }
}

TEST(DeviceAttributesProtoTest, OfAnX86EachFeatureOfItsLevelCounts) {
  v1::DeviceDescription pc;
  pc.set_target("x86-64-v3-linux-vnni");
  const DeviceAttributes attributes = AttributesOf(pc, {});
  EXPECT_THAT(attributes.texts.at(DeviceAttribute::kArch), ::testing::ElementsAre("x86-64"));
  EXPECT_THAT(attributes.texts.at(DeviceAttribute::kFeature),
              ::testing::IsSupersetOf({"avx2", "fma", "vnni"}));
}

TEST(DeviceAttributesProtoTest, WhatIsNotToldIsNotKnown) {
  v1::DeviceDescription bare;
  bare.set_target("z80");
  DeviceAttributes attributes = AttributesOf(bare, {});
  EXPECT_FALSE(attributes.texts.contains(DeviceAttribute::kArch));
  EXPECT_FALSE(attributes.texts.contains(DeviceAttribute::kPower));
  EXPECT_FALSE(attributes.numbers.contains(DeviceAttribute::kStorage));
  EXPECT_FALSE(attributes.numbers.contains(DeviceAttribute::kPerformanceCores));
  // Of cores that are all alike all are fast.
  bare.mutable_inventory()->add_core_kinds()->set_cores(4);
  bare.mutable_inventory()->set_power(static_cast<v1::DeviceInventory::Power>(77));
  attributes = AttributesOf(bare, {});
  EXPECT_EQ(attributes.numbers.at(DeviceAttribute::kPerformanceCores), 4);
  EXPECT_EQ(attributes.numbers.at(DeviceAttribute::kEfficiencyCores), 0);
  EXPECT_FALSE(attributes.texts.contains(DeviceAttribute::kPower));
}

TEST(DeviceAttributesProtoTest, LabelsAreBoundedAndChecked) {
  v1::DeviceDescription device = Phone();
  EXPECT_THAT(FromProto(device.labels()),
              IsOkAndHolds(Labels{{"lab", "berlin"}, {"owner", "ada"}}));
  google::protobuf::RepeatedPtrField<v1::Label> again;
  ToProto({{"lab", "berlin"}, {"owner", "ada"}}, &again);
  EXPECT_THAT(FromProto(again), IsOkAndHolds(::testing::SizeIs(2)));
  device.mutable_labels(1)->set_key("lab");
  EXPECT_THAT(FromProto(device.labels()), StatusIs(Code::kInvalidArgument, HasSubstr("twice")));
  device.mutable_labels(1)->set_key("bell\x07");
  EXPECT_THAT(FromProto(device.labels()), StatusIs(Code::kInvalidArgument, HasSubstr("0x07")));
  device.clear_labels();
  for (int i = 0; i <= 32; ++i) device.add_labels()->set_key(absl::StrCat("k", i));
  EXPECT_THAT(FromProto(device.labels()), StatusIs(Code::kInvalidArgument, HasSubstr("33 labels")));
}

TEST(DeviceAttributesProtoTest, AnInventoryThatCannotBeIsRefused) {
  EXPECT_OK(CheckInventory(Phone().inventory()));
  EXPECT_OK(CheckInventory({}));
  const struct {
    const char* says;
    std::function<void(v1::DeviceInventory&)> spoil;
  } kBad[] = {
      {"cores is -1", [](auto& i) { i.mutable_core_kinds(0)->set_cores(-1); }},
      {"capacity is 1025", [](auto& i) { i.mutable_core_kinds(0)->set_capacity(1025); }},
      {"max_frequency_hz is -2",
       [](auto& i) { i.mutable_core_kinds(0)->set_max_frequency_hz(-2); }},
      {"core_kinds is 17",
       [](auto& i) {
         while (i.core_kinds_size() < 17) i.add_core_kinds();
       }},
      {"accelerators is 17",
       [](auto& i) {
         while (i.accelerators_size() < 17) i.add_accelerators();
       }},
      {"kernel has 256 bytes", [](auto& i) { i.set_kernel(std::string(256, 'k')); }},
      {"accelerator has 256 bytes", [](auto& i) { i.add_accelerators(std::string(256, 'a')); }},
      {"storage_bytes is -1", [](auto& i) { i.set_storage_bytes(-1); }},
      {"storage_free_bytes is 9",
       [](auto& i) {
         i.set_storage_bytes(8);
         i.set_storage_free_bytes(9);
       }},
      {"charge_percent is 101", [](auto& i) { i.set_charge_percent(101); }},
  };
  for (const auto& [says, spoil] : kBad) {
    v1::DeviceInventory inventory = Phone().inventory();
    spoil(inventory);
    EXPECT_THAT(CheckInventory(inventory), StatusIs(Code::kInvalidArgument, HasSubstr(says)));
  }
}

}  // namespace
}  // namespace slipway
