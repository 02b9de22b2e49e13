// The target of a request (RFC 9112, section 3.2), taken apart.
#ifndef SLIPWAY_CORE_HTTP_URL_H_
#define SLIPWAY_CORE_HTTP_URL_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

struct Url {
  // What stands between slashes, decoded; none for "/". "/a/b" and "/a/b/" differ: the second ends with an empty one.
  std::vector<std::string> path;
  // Names and values, decoded, in their order; a name alone has an empty value.
  std::vector<std::pair<std::string, std::string>> query;
};

// INVALID_ARGUMENT unless it begins with "/", has at most 64 parts and 256 pairs, and what it encodes is UTF-8 without control
// characters. "." and ".." are names like any.
absl::StatusOr<Url> ParseUrl(absl::string_view target);

}  // namespace slipway

#endif  // SLIPWAY_CORE_HTTP_URL_H_
