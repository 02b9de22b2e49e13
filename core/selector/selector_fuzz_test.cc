// Any bytes are parsed or refused; what is parsed survives printing and parsing again, and a device that it does not match is
// told why.
#include <cstddef>
#include <cstdint>

#include "core/base/check.h"
#include "core/selector/selector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using slipway::DeviceAttribute;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<slipway::Selector> selector = slipway::Selector::Parse(text);
  if (!selector.ok()) return 0;
  const absl::StatusOr<slipway::Selector> again = slipway::Selector::Parse(selector->ToString());
  // Sizes may be longer in their exact form.
  if (selector->ToString().size() <= slipway::kMaxSelectorBytes) {
    SLIPWAY_CHECK(again.ok() && *again == *selector, "a printed selector is another one");
  }
  slipway::DeviceAttributes device;
  for (const bool is_known : {false, true}) {
    SLIPWAY_CHECK(selector->Matches(device) == !selector->WhyNot(device).has_value(),
                  "a device that matches is told why not, or the other way round");
    if (is_known) break;
    device.texts[DeviceAttribute::kArch] = {"arm-64"};
    device.texts[DeviceAttribute::kFeature] = {"fp16", "dotprod"};
    device.numbers[DeviceAttribute::kMemory] = int64_t{4} << 30;
    device.labels = {{"lab", "berlin"}};
  }
  return 0;
}
