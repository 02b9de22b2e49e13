// What a vendor's library writes, for messages.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_VENDOR_LOG_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_VENDOR_LOG_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace slipway {

// At most `max_bytes` of it, escaped, with how much was left out.
std::string BoundedLog(absl::string_view log, size_t max_bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_VENDOR_LOG_H_
