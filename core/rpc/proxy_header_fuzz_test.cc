// Whatever comes where proxies connect is read to a decision within bounds.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/rpc/proxy_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using slipway::ProxyHeaderKind;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const slipway::ProxyHeaderView view = slipway::ReadProxyHeader(bytes);
  if (view.kind == ProxyHeaderKind::kIncomplete) {
    SLIPWAY_CHECK(view.wanted > size, "more is wanted than there is");
    SLIPWAY_CHECK(view.wanted <= slipway::kMaxProxyHeaderBytes, "and no more than is read");
  }
  if (view.kind == ProxyHeaderKind::kWhole) {
    SLIPWAY_CHECK(view.size >= 16 && view.size <= size, "a header is of what was sent");
  }
  return 0;
}
