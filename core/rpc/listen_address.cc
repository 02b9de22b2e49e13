#include "core/rpc/listen_address.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"

namespace slipway {

absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text) {
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, kUnixAddressPrefix)) {
    if (rest.empty() || rest.size() >= sizeof(sockaddr_un::sun_path)) {
      return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" names no socket of 1 to ",
                                                     sizeof(sockaddr_un::sun_path) - 1, " bytes"));
    }
    return ListenAddress{.is_loopback = true};
  }
  const size_t colon = text.rfind(':');
  ListenAddress address;
  if (colon == absl::string_view::npos || colon == 0 ||
      !absl::SimpleAtoi(text.substr(colon + 1), &address.port) || address.port < 0 ||
      address.port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is no address: HOST:PORT or unix:PATH is wanted"));
  }
  address.host = std::string(text.substr(0, colon));
  address.is_loopback = address.host == "localhost" || address.host == "[::1]" ||
                        absl::StartsWith(address.host, "127.");
  return address;
}

absl::Status CheckListen(absl::string_view address, bool has_token, bool is_insecure) {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const ListenAddress parsed, ParseListenAddress(address),
                                "--listen");
  if (parsed.is_loopback || has_token || is_insecure) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "--listen \"", address,
      "\" can be reached by other machines: pass --token-file, or --insecure if that is meant"));
}

}  // namespace slipway
