// Splits the text form of graphs into tokens. Private to the parser.
#ifndef SLIPWAY_CORE_GRAPH_TEXT_LEXER_H_
#define SLIPWAY_CORE_GRAPH_TEXT_LEXER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace slipway::text_internal {

enum class TokenKind {
  kEnd,
  kWord,         // Letters, digits, "_", ".", "$"; begins with a letter, "_" or "$".
  kNumber,       // Begins with a digit or "-"; also "-inf".
  kString,       // text holds what the quotes hold, unescaped.
  kValue,        // "%" and a name; text holds the name.
  kDigest,       // "#HEX/SIZE"; text holds what stands behind "#".
  kPunctuation,  // One of ( ) { } [ ] , : = ? + * or "->".
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  int line = 1;
  int column = 1;  // Where it begins, in bytes, from 1.
};

// Whether a name can stand in the text without quotes.
bool IsPlainName(absl::string_view name);

// Reads one token ahead. Not thread-safe; `text` must outlive it.
class Lexer {
 public:
  explicit Lexer(absl::string_view text);

  const Token& current() const { return current_; }
  // INVALID_ARGUMENT with "line:column" for what is no token.
  absl::Status Advance();
  // The error for the current token.
  absl::Status Error(absl::string_view message) const;

 private:
  void SkipBlanks();
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  absl::Status ReadString();
  void ReadWhile(bool (*accept)(char));
  bool AtDigest() const;

  absl::string_view text_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  int line_ = 1;
  Token current_;
};

}  // namespace slipway::text_internal

#endif  // SLIPWAY_CORE_GRAPH_TEXT_LEXER_H_
