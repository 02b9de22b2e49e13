// Whatever is sent as the target of a request is taken apart within bounds, or refused.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/base/utf8.h"
#include "core/http/url.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::StatusOr<slipway::Url> url =
      slipway::ParseUrl(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!url.ok()) return 0;
  size_t bytes = 0;
  for (const auto& part : url->path) {
    SLIPWAY_CHECK(slipway::IsUtf8(part), "parts are text");
    bytes += part.size();
  }
  for (const auto& [name, value] : url->query) {
    SLIPWAY_CHECK(slipway::IsUtf8(name) && slipway::IsUtf8(value), "pairs are text");
    bytes += name.size() + value.size();
  }
  SLIPWAY_CHECK(bytes <= size, "decoding makes nothing longer");
  return 0;
}
