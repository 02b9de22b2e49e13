#include "core/graph/text_lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace slipway::text_internal {
namespace {

bool IsWordStart(char c) { return absl::ascii_isalpha(c) || c == '_' || c == '$'; }
bool IsWord(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '$'; }
bool IsValueName(char c) { return IsWord(c) || c == '/'; }
bool IsDigestChar(char c) { return absl::ascii_isxdigit(c) || c == '/'; }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool IsPlainName(absl::string_view name) {
  if (name.empty() || !IsWordStart(name[0]) || name == "_") return false;
  for (const char c : name) {
    if (!IsWord(c)) return false;
  }
  return true;
}

Lexer::Lexer(absl::string_view text) : text_(text) {}

absl::Status Lexer::Error(absl::string_view message) const {
  return absl::InvalidArgumentError(
      absl::StrCat(current_.line, ":", current_.column, ": ", message));
}

// A digest is told from a comment by its 64 digits and slash.
bool Lexer::AtDigest() const {
  for (size_t i = 1; i <= 64; ++i) {
    if (HexDigit(Peek(i)) < 0) return false;
  }
  return Peek(65) == '/';
}

void Lexer::SkipBlanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++at_;
      ++line_;
      line_start_ = at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '#' && !AtDigest()) {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else {
      return;
    }
  }
}

void Lexer::ReadWhile(bool (*accept)(char)) {
  while (at_ < text_.size() && accept(text_[at_])) current_.text += text_[at_++];
}

absl::Status Lexer::ReadString() {
  ++at_;
  while (true) {
    const char c = Peek();
    if (at_ >= text_.size() || c == '\n') return Error("the string does not end on its line");
    ++at_;
    if (c == '"') return absl::OkStatus();
    if (c != '\\') {
      current_.text += c;
      continue;
    }
    const char escaped = Peek();
    ++at_;
    switch (escaped) {
      case '"':
      case '\\':
        current_.text += escaped;
        break;
      case 'n':
        current_.text += '\n';
        break;
      case 't':
        current_.text += '\t';
        break;
      case 'x': {
        const int high = HexDigit(Peek());
        const int low = HexDigit(Peek(1));
        if (high < 0 || low < 0) return Error("\"\\x\" needs two hexadecimal digits");
        current_.text += static_cast<char>(high * 16 + low);
        at_ += 2;
        break;
      }
      default:
        return Error("only \\\" \\\\ \\n \\t \\xHH may follow a backslash");
    }
  }
}

absl::Status Lexer::Advance() {
  SkipBlanks();
  current_ = Token{TokenKind::kEnd, "", line_, static_cast<int>(at_ - line_start_) + 1};
  if (at_ >= text_.size()) return absl::OkStatus();
  const char c = text_[at_];
  if (c == '"') {
    current_.kind = TokenKind::kString;
    return ReadString();
  }
  if (c == '%') {
    current_.kind = TokenKind::kValue;
    ++at_;
    if (Peek() == '"') return ReadString();
    ReadWhile(IsValueName);
    return current_.text.empty() ? Error("\"%\" needs a name") : absl::OkStatus();
  }
  if (c == '#') {
    current_.kind = TokenKind::kDigest;
    ++at_;
    ReadWhile(IsDigestChar);
    return absl::OkStatus();
  }
  if (IsWordStart(c)) {
    current_.kind = TokenKind::kWord;
    ReadWhile(IsWord);
    return absl::OkStatus();
  }
  if (c == '-' && Peek(1) == '>') {
    current_.kind = TokenKind::kPunctuation;
    current_.text = "->";
    at_ += 2;
    return absl::OkStatus();
  }
  if (absl::ascii_isdigit(c) || c == '-') {
    current_.kind = TokenKind::kNumber;
    current_.text += c;
    ++at_;
    ReadWhile(IsWord);
    const bool signed_exponent = (Peek() == '-' || Peek() == '+') && current_.text.back() == 'e';
    if (signed_exponent) {
      if (Peek() == '-') current_.text += '-';
      ++at_;
      ReadWhile(IsWord);
    }
    return absl::OkStatus();
  }
  if (absl::string_view("(){}[],:=?+*|").find(c) != absl::string_view::npos) {
    current_.kind = TokenKind::kPunctuation;
    current_.text = std::string(1, c);
    ++at_;
    return absl::OkStatus();
  }
  return Error(absl::StrCat("unexpected character 0x",
                            absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2)));
}

}  // namespace slipway::text_internal
