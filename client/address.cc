#include "client/address.h"

#include <sys/un.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace slipway {

absl::Status CheckAddress(absl::string_view address) {
  if (absl::StartsWith(address, "unix:")) {
    if (address.size() - 5 >= sizeof(sockaddr_un::sun_path)) {
      return absl::InvalidArgumentError(
          absl::StrCat("server address \"", address, "\" names a socket of ", address.size() - 5,
                       " bytes; at most ", sizeof(sockaddr_un::sun_path) - 1, " are possible"));
    }
    if (address.size() > 5) return absl::OkStatus();
  } else {
    const size_t colon = address.rfind(':');
    int port = 0;
    if (colon != absl::string_view::npos && colon > 0 &&
        absl::SimpleAtoi(address.substr(colon + 1), &port) && port > 0 && port < 65536) {
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("server address \"", address, "\" is neither HOST:PORT nor unix:PATH"));
}

}  // namespace slipway
