// Any bytes are scanned, and no more is returned than was allowed.
#include <cstddef>
#include <cstdint>

#include "client/external_data.h"
#include "core/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto locations = slipway::FindExternalData(bytes, 10);
  SLIPWAY_CHECK(locations.size() <= 10, "too many locations");
  return 0;
}
