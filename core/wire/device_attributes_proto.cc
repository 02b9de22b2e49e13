#include "core/wire/device_attributes_proto.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/target/target.h"

namespace slipway {
namespace {

using google::protobuf::RepeatedPtrField;
using v1::DeviceInventory;

constexpr int kMaxCoreKinds = 16;
constexpr int kMaxAccelerators = 16;
constexpr int kFullCapacity = 1024;
constexpr size_t kMaxTextBytes = 255;

absl::Status CheckRange(absl::string_view what, int64_t value, int64_t most) {
  if (value >= 0 && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("its inventory's ", what, " is ", value, "; 0 to ", most, " wanted"));
}

absl::Status CheckText(absl::string_view what, const std::string& text) {
  if (text.size() <= kMaxTextBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("its inventory's ", what, " has ", text.size(),
                                                 " bytes; at most ", kMaxTextBytes));
}

void AddTarget(const std::string& text, DeviceAttributes& attributes) {
  attributes.texts[DeviceAttribute::kTarget] = {text};
  const absl::StatusOr<Target> target = ParseTarget(text);
  if (!target.ok()) return;
  DeviceTarget arch;  // Of level and features nothing.
  arch.arch = target->host().arch;
  arch.os = Os::kNone;
  attributes.texts[DeviceAttribute::kArch] = {arch.ToString()};
  attributes.texts[DeviceAttribute::kFeature] = target->host().features;
  for (size_t i = 1; i < target->devices.size(); ++i) {
    attributes.texts[DeviceAttribute::kAccelerator].push_back(target->devices[i].ToString());
  }
}

void AddText(DeviceAttribute attribute, const std::string& text, DeviceAttributes& attributes) {
  if (!text.empty()) attributes.texts[attribute].push_back(text);
}

void AddInventory(const DeviceInventory& inventory, DeviceAttributes& attributes) {
  AddText(DeviceAttribute::kKernel, inventory.kernel(), attributes);
  for (const std::string& name : inventory.accelerators()) {
    AddText(DeviceAttribute::kAccelerator, name, attributes);
  }
  if (inventory.machine() == DeviceInventory::PHYSICAL) {
    AddText(DeviceAttribute::kMachine, "physical", attributes);
  } else if (inventory.machine() == DeviceInventory::VIRTUAL) {
    AddText(DeviceAttribute::kMachine, "virtual", attributes);
  }
  if (inventory.power() == DeviceInventory::MAINS) {
    AddText(DeviceAttribute::kPower, "mains", attributes);
  } else if (inventory.power() == DeviceInventory::BATTERY) {
    AddText(DeviceAttribute::kPower, "battery", attributes);
  }
  if (inventory.storage_bytes() > 0) {
    attributes.numbers[DeviceAttribute::kStorage] = inventory.storage_bytes();
    attributes.numbers[DeviceAttribute::kStorageFree] = inventory.storage_free_bytes();
  }
  if (inventory.has_charge_percent()) {
    attributes.numbers[DeviceAttribute::kCharge] = inventory.charge_percent();
  }
  const int kinds = inventory.core_kinds_size();
  if (kinds == 0) return;
  int64_t all = 0;
  for (const DeviceInventory::CoreKind& kind : inventory.core_kinds()) all += kind.cores();
  const int64_t slowest = kinds > 1 ? inventory.core_kinds(kinds - 1).cores() : 0;
  attributes.numbers[DeviceAttribute::kPerformanceCores] = all - slowest;
  attributes.numbers[DeviceAttribute::kEfficiencyCores] = slowest;
}

}  // namespace

absl::StatusOr<Labels> FromProto(const RepeatedPtrField<v1::Label>& labels) {
  if (static_cast<size_t>(labels.size()) > kMaxLabels) {
    return absl::InvalidArgumentError(
        absl::StrCat(labels.size(), " labels are given; at most ", kMaxLabels));
  }
  Labels read;
  for (const v1::Label& label : labels) {
    SLIPWAY_RETURN_IF_ERROR(CheckLabel(label.key(), label.value()));
    if (!read.emplace(label.key(), label.value()).second) {
      return absl::InvalidArgumentError(absl::StrCat("label '", label.key(), "' is given twice"));
    }
  }
  return read;
}

void ToProto(const Labels& labels, RepeatedPtrField<v1::Label>* proto) {
  proto->Clear();
  for (const auto& [key, value] : labels) {
    v1::Label& label = *proto->Add();
    label.set_key(key);
    label.set_value(value);
  }
}

absl::Status CheckInventory(const DeviceInventory& inventory) {
  SLIPWAY_RETURN_IF_ERROR(
      CheckRange("number of core_kinds", inventory.core_kinds_size(), kMaxCoreKinds));
  SLIPWAY_RETURN_IF_ERROR(
      CheckRange("number of accelerators", inventory.accelerators_size(), kMaxAccelerators));
  for (const DeviceInventory::CoreKind& kind : inventory.core_kinds()) {
    SLIPWAY_RETURN_IF_ERROR(CheckRange("cores", kind.cores(), INT32_MAX));
    SLIPWAY_RETURN_IF_ERROR(CheckRange("capacity", kind.capacity(), kFullCapacity));
    SLIPWAY_RETURN_IF_ERROR(CheckRange("max_frequency_hz", kind.max_frequency_hz(), INT64_MAX));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckText("kernel", inventory.kernel()));
  for (const std::string& accelerator : inventory.accelerators()) {
    SLIPWAY_RETURN_IF_ERROR(CheckText("accelerator", accelerator));
  }
  SLIPWAY_RETURN_IF_ERROR(CheckRange("storage_bytes", inventory.storage_bytes(), INT64_MAX));
  SLIPWAY_RETURN_IF_ERROR(
      CheckRange("storage_free_bytes", inventory.storage_free_bytes(), inventory.storage_bytes()));
  return CheckRange("charge_percent", inventory.charge_percent(), 100);
}

DeviceAttributes AttributesOf(const v1::DeviceDescription& device, const Labels& given) {
  DeviceAttributes attributes;
  AddText(DeviceAttribute::kId, device.id(), attributes);
  AddTarget(device.target(), attributes);
  AddText(DeviceAttribute::kModel, device.model(), attributes);
  AddText(DeviceAttribute::kOs, device.os(), attributes);
  attributes.numbers[DeviceAttribute::kCores] = device.cores();
  attributes.numbers[DeviceAttribute::kMemory] = device.memory_bytes();
  AddInventory(device.inventory(), attributes);
  attributes.labels = given;
  if (absl::StatusOr<Labels> own = FromProto(device.labels()); own.ok()) {
    attributes.labels.insert(own->begin(), own->end());
  }
  return attributes;
}

}  // namespace slipway
