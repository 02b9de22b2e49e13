// UTF-8, as far as printing needs it.
#ifndef SLIPWAY_CLIENT_CLI_UTF8_H_
#define SLIPWAY_CLIENT_CLI_UTF8_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace slipway::cli {

// The length of the character that `text` begins with, 1 to 4; 0 when its first byte begins none (RFC 3629:
// no overlong forms, no surrogates). REQUIRES: text is not empty.
size_t Utf8Length(absl::string_view text);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_CLI_UTF8_H_
