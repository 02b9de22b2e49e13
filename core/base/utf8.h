// UTF-8: what protocol buffers demand of every string.
#ifndef SLIPWAY_CORE_BASE_UTF8_H_
#define SLIPWAY_CORE_BASE_UTF8_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace slipway {

// The length of the character that `text` begins with, 1 to 4; 0 when it begins with none (Unicode 15,
// table 3-7). REQUIRES: `text` is not empty.
size_t Utf8Length(absl::string_view text);

// Whether `text` is well-formed UTF-8 (Unicode 15, table 3-7).
bool IsUtf8(absl::string_view text);

// `text` with "?" for every byte that is not part of a well-formed sequence.
std::string ToUtf8(absl::string_view text);

// The longest beginning of `text` that has at most `max_bytes` and splits no sequence. REQUIRES:
// IsUtf8(text).
absl::string_view Utf8Prefix(absl::string_view text, size_t max_bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_UTF8_H_
