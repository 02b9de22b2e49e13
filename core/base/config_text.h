// The text of configuration files: scalar fields of protobuf's text format (textproto), and nothing more.
#ifndef SLIPWAY_CORE_BASE_CONFIG_TEXT_H_
#define SLIPWAY_CORE_BASE_CONFIG_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

// One `name: value`; a list gives an entry for each of its values.
struct ConfigEntry {
  std::string name;
  std::string value;  // Without quotes and escapes.
  int line = 0;       // From 1.
};

// In the order of the text. INVALID_ARGUMENT with the line for what is not a scalar field.
absl::StatusOr<std::vector<ConfigEntry>> ParseConfigText(absl::string_view text);

// In double quotes, with escapes where needed.
std::string QuoteConfigText(absl::string_view value);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_CONFIG_TEXT_H_
