// Text of others inside of C: it may hold anything, and must stay what it is.
#ifndef SLIPWAY_CLIENT_LIBRARY_C_TEXT_H_
#define SLIPWAY_CLIENT_LIBRARY_C_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace slipway {

// A literal that holds exactly these bytes, with its quotes. Printable characters stand as they are, but for those that could end a
// literal, make an escape or a trigraph, or speak to printf; all else is written in octal.
std::string CLiteral(absl::string_view text);

// For comments of C, of shells and of CMake: one line, in which nothing can end the comment or begin another; what is
// unusual is written as % and two hexadecimal digits. At most 200 bytes and "...".
std::string CommentText(absl::string_view text);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_LIBRARY_C_TEXT_H_
