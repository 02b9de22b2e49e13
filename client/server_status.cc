#include "client/server_status.h"

namespace slipway {

absl::string_view Name(WaitsFor need) {
  switch (need) {
    case WaitsFor::kWorker:
      return "worker";
    case WaitsFor::kNamedDevice:
      return "named device";
    case WaitsFor::kAnyDevice:
      return "any device";
    case WaitsFor::kUnknown:
      break;
  }
  return "something else";
}

}  // namespace slipway
