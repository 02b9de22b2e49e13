// Whatever a stranger sends first is read to a decision within bounds.
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "core/base/check.h"
#include "core/rpc/client_hello.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const slipway::HelloView view = slipway::ReadClientHello(bytes);
  if (view.kind == slipway::HelloKind::kIncomplete) {
    SLIPWAY_CHECK(view.wanted > size, "more is wanted than there is");
    SLIPWAY_CHECK(view.wanted <= slipway::kMaxClientHelloBytes + 5, "and no more than is read");
  }
  SLIPWAY_CHECK(view.server_name.size() <= size, "a name is of what was sent");
  return 0;
}
