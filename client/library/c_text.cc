#include "client/library/c_text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace slipway {
namespace {

constexpr size_t kMaxCommentBytes = 200;

bool IsPlain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalnum(byte) ||
         absl::StrContains(" _.,:;+-=()[]<>/#@", absl::string_view(&c, 1));
}

}  // namespace

std::string CLiteral(absl::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (IsPlain(c)) {
      literal.push_back(c);
    } else {
      absl::StrAppendFormat(&literal, "\\%03o", static_cast<unsigned char>(c));
    }
  }
  return absl::StrCat(literal, "\"");
}

std::string CommentText(absl::string_view text) {
  std::string comment;
  for (const char c : text) {
    const std::string one =
        IsPlain(c) ? std::string(1, c) : absl::StrFormat("%%%02x", static_cast<unsigned char>(c));
    if (comment.size() + one.size() > kMaxCommentBytes) return absl::StrCat(comment, "...");
    comment += one;
  }
  return comment;
}

}  // namespace slipway
