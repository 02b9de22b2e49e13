#include "server/web/guard.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"
#include "core/rpc/listen_address.h"

namespace slipway::web {
namespace {

// What stands behind the scheme; empty for what is no origin.
absl::string_view HostOf(absl::string_view origin) {
  if (!absl::ConsumePrefix(&origin, "https://") && !absl::ConsumePrefix(&origin, "http://")) {
    return "";
  }
  return origin;
}

bool IsRead(absl::string_view method) { return method == "GET" || method == "HEAD"; }

absl::Status Denied(absl::string_view what) {
  return absl::PermissionDeniedError(
      absl::StrCat(what, ": open the page by its own address, or pass it by --origin"));
}

}  // namespace

absl::StatusOr<PageOrigins> OriginsOf(absl::string_view address, bool is_tls,
                                      absl::string_view given) {
  if (!given.empty()) {
    const absl::string_view host = HostOf(given);
    if (host.empty() || host.find_first_of("/?#@ ") != host.npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("--origin is to be a scheme, a host and perhaps a port, such as "
                       "https://lab.example; not \"",
                       given, "\""));
    }
    return PageOrigins{{std::string(given)}};
  }
  SLIPWAY_ASSIGN_OR_RETURN(const ListenAddress listen, ParseListenAddress(address));
  const absl::string_view scheme = is_tls ? "https://" : "http://";
  if (listen.host.empty()) return PageOrigins{{"http://localhost"}};
  if (!listen.is_loopback) {
    // By whatever name: without TLS only --origin lets others in.
    return PageOrigins{};
  }
  PageOrigins page;
  for (const absl::string_view host : {"127.0.0.1", "localhost", "[::1]"}) {
    page.origins.push_back(absl::StrCat(scheme, host, ":", listen.port));
  }
  return page;
}

absl::Status CheckOrigin(const HttpRequest& request, const PageOrigins& page) {
  const absl::string_view host = request.Header("host");
  const auto is_ours = [&](absl::string_view origin) {
    if (page.origins.empty()) return origin == absl::StrCat("https://", host);
    return std::find(page.origins.begin(), page.origins.end(), origin) != page.origins.end();
  };
  const bool is_known_host =
      page.origins.empty() ||
      std::any_of(page.origins.begin(), page.origins.end(), [host](const std::string& origin) {
        return absl::EqualsIgnoreCase(HostOf(origin), host);
      });
  if (host.empty() || !is_known_host) return Denied("this is not the page's host");
  if (IsRead(request.method)) return absl::OkStatus();
  const absl::string_view origin = request.Header("origin");
  if (!origin.empty()) return is_ours(origin) ? absl::OkStatus() : Denied("another page asks");
  if (request.Header("sec-fetch-site") == "same-origin") return absl::OkStatus();
  return Denied("nobody says which page asks");
}

bool IsSecure(const PageOrigins& page) {
  return page.origins.empty() || absl::StartsWith(page.origins.front(), "https://");
}

}  // namespace slipway::web
