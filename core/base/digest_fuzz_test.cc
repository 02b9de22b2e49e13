// Whatever Digest::Parse accepts, ToString writes back, byte for byte.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/base/digest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<slipway::Digest> digest = slipway::Digest::Parse(text);
  if (digest.ok()) {
    SLIPWAY_CHECK(digest->ToString() == text, "a digest has one spelling only");
    SLIPWAY_CHECK(digest->is_set(), "a parsed digest is set");
  }
  return 0;
}
