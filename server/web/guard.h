// Which requests come from the page itself, and not from others in whose browser it is signed in. Pure.
#ifndef SLIPWAY_SERVER_WEB_GUARD_H_
#define SLIPWAY_SERVER_WEB_GUARD_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/http/http_message.h"

namespace slipway::web {

// What browsers call the page.
struct PageOrigins {
  // "https://lab.example", "http://127.0.0.1:7480": scheme, host and port; the first one is told to people. Empty: whatever its certificate says,
  // by https.
  std::vector<std::string> origins;
};

// Where the page listens at `address`, over TLS or not; `given` is --origin, empty if there is none. INVALID_ARGUMENT for one that is no origin.
absl::StatusOr<PageOrigins> OriginsOf(absl::string_view address, bool is_tls,
                                      absl::string_view given);

// PERMISSION_DENIED for a request whose Host is none of these (as when somebody's name is made to stand for this machine's address), or
// which changes something and does not say that the page itself makes it: by Origin, or by Sec-Fetch-Site.
absl::Status CheckOrigin(const HttpRequest& request, const PageOrigins& page);

// Whether a cookie is to be sent over TLS alone.
bool IsSecure(const PageOrigins& page);

}  // namespace slipway::web

#endif  // SLIPWAY_SERVER_WEB_GUARD_H_
