// What is shown of several completions. Pure.
#ifndef SLIPWAY_CLIENT_TERMINAL_LISTING_H_
#define SLIPWAY_CLIENT_TERMINAL_LISTING_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace slipway::cli {

// Of UTF-8.
size_t CountCharacters(absl::string_view text);

// What all of them begin with; whole characters. REQUIRES: there is one.
std::string CommonPrefix(absl::Span<const std::string> words);

// In columns that fit into a window of `width` (0: not known), down and then to the right: of files, the part behind the
// folder that they share. Every line ends in a newline.
std::string InColumns(absl::Span<const std::string> words, int width);

}  // namespace slipway::cli

#endif  // SLIPWAY_CLIENT_TERMINAL_LISTING_H_
