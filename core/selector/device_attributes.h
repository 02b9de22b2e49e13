// What is known of a device, by the names that selectors use.
#ifndef SLIPWAY_CORE_SELECTOR_DEVICE_ATTRIBUTES_H_
#define SLIPWAY_CORE_SELECTOR_DEVICE_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/selector/labels.h"

namespace slipway {

// What a selector may ask for, besides labels.
enum class DeviceAttribute {
  kId,
  kTarget,
  kArch,
  kFeature,
  kAccelerator,
  kModel,
  kOs,
  kKernel,
  kMachine,
  kPower,
  kCores,
  kPerformanceCores,
  kEfficiencyCores,
  kMemory,
  kStorage,
  kStorageFree,
  kCharge,
};

struct AttributeRow {
  enum class Kind { kText, kNumber, kBytes };
  DeviceAttribute attribute;
  absl::string_view name;  // In selectors.
  Kind kind;
  absl::string_view meaning;  // For people.
};

// One for each DeviceAttribute, in their order.
absl::Span<const AttributeRow> AttributeRows();

// Of one device. What is not known is not there.
struct DeviceAttributes {
  // Those of Kind::kText; a device may have several features, say.
  absl::btree_map<DeviceAttribute, std::vector<std::string>> texts;
  // The others, not negative; sizes in bytes.
  absl::btree_map<DeviceAttribute, int64_t> numbers;
  Labels labels;

  friend bool operator==(const DeviceAttributes& a, const DeviceAttributes& b) {
    return a.texts == b.texts && a.numbers == b.numbers && a.labels == b.labels;
  }
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_SELECTOR_DEVICE_ATTRIBUTES_H_
