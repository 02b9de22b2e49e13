#include "core/rpc/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// Of names only the one that every machine has: any other, "127.name.example" too, may be anybody's.
bool IsLoopback(const std::string& host) {
  if (host == "localhost") return true;
  in_addr four;
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  absl::string_view inner = host;
  in6_addr six;
  return absl::ConsumePrefix(&inner, "[") && absl::ConsumeSuffix(&inner, "]") &&
         inet_pton(AF_INET6, std::string(inner).c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

}  // namespace

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
  address.is_loopback = IsLoopback(address.host);
  return address;
}

std::string LocalAddress(const std::string& address) {
  for (const absl::string_view any : {"0.0.0.0:", "[::]:"}) {
    if (absl::StartsWith(address, any)) {
      return absl::StrCat("127.0.0.1:", absl::string_view(address).substr(any.size()));
    }
  }
  return address;
}

absl::Status CheckListen(absl::string_view address, bool asks_who, bool is_insecure) {
  SLIPWAY_ASSIGN_OR_RETURN_WITH(const ListenAddress parsed, ParseListenAddress(address),
                                "--listen");
  if (parsed.is_loopback || asks_who || is_insecure) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("--listen \"", address,
                   "\" can be reached by other machines: call the server over TLS, or pass "
                   "--insecure if that is meant"));
}

}  // namespace slipway
