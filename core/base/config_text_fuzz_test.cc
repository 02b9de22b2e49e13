// Any bytes are parsed or refused; what is parsed survives printing and parsing again.
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/config_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto entries = slipway::ParseConfigText(text);
  if (!entries.ok()) return 0;
  std::string printed;
  for (const auto& entry : *entries) {
    absl::StrAppend(&printed, entry.name, ": ", slipway::QuoteConfigText(entry.value), "\n");
  }
  const auto again = slipway::ParseConfigText(printed);
  SLIPWAY_CHECK(again.ok() && again->size() == entries->size(), "printed text does not parse");
  for (size_t i = 0; i < entries->size(); ++i) {
    SLIPWAY_CHECK((*again)[i].value == (*entries)[i].value, "a value changed");
  }
  return 0;
}
