#include "core/tensor/npy_header.h"

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// A cursor over the text; every Parse function leaves it behind what it took.
class Parser {
 public:
  explicit Parser(absl::string_view text) : rest_(text), total_(text.size()) {}

  absl::StatusOr<NpyHeader> ParseHeader();

 private:
  void SkipBlanks() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }

  // Takes `c` if it comes next.
  bool Accept(char c) {
    SkipBlanks();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  absl::Status Expected(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("malformed .npy header: expected ", what, " at offset ", total_ - rest_.size(),
                     ", found '", absl::CHexEscape(rest_.substr(0, 20)), "'"));
  }

  absl::StatusOr<std::string> ParseString();
  absl::StatusOr<bool> ParseBool();
  absl::StatusOr<int64_t> ParseExtent();
  absl::StatusOr<Shape> ParseShape();

  absl::string_view rest_;
  const size_t total_;
};

absl::StatusOr<std::string> Parser::ParseString() {
  SkipBlanks();
  if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return Expected("a string");
  const size_t end = rest_.find(rest_[0], 1);
  if (end == absl::string_view::npos) return Expected("a string with an end");
  const absl::string_view content = rest_.substr(1, end - 1);
  if (content.find('\\') != absl::string_view::npos) return Expected("a string without escapes");
  rest_.remove_prefix(end + 1);
  return std::string(content);
}

absl::StatusOr<bool> Parser::ParseBool() {
  SkipBlanks();
  for (const bool value : {false, true}) {
    const absl::string_view word = value ? "True" : "False";
    if (rest_.substr(0, word.size()) == word) {
      rest_.remove_prefix(word.size());
      return value;
    }
  }
  return Expected("True or False");
}

absl::StatusOr<int64_t> Parser::ParseExtent() {
  SkipBlanks();
  if (rest_.empty() || !absl::ascii_isdigit(rest_[0])) return Expected("an extent");
  int64_t value = 0;
  while (!rest_.empty() && absl::ascii_isdigit(rest_[0])) {
    const int64_t digit = rest_[0] - '0';
    if (value > (std::numeric_limits<int64_t>::max() - digit) / 10) {
      return Expected("an extent below 2^63");
    }
    value = value * 10 + digit;
    rest_.remove_prefix(1);
  }
  // Python 2 wrote long integers so.
  if (!rest_.empty() && rest_[0] == 'L') rest_.remove_prefix(1);
  return value;
}

absl::StatusOr<Shape> Parser::ParseShape() {
  if (!Accept('(')) return Expected("'('");
  Shape shape;
  while (!Accept(')')) {
    if (shape.size() == kMaxRank) return Expected(absl::StrCat("at most ", kMaxRank, " extents"));
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t extent, ParseExtent());
    shape.push_back(extent);
    if (Accept(',')) continue;
    // "(3)" is no tuple in Python: one extent needs its comma.
    if (shape.size() == 1 || !Accept(')')) return Expected("','");
    break;
  }
  return shape;
}

absl::StatusOr<NpyHeader> Parser::ParseHeader() {
  NpyHeader header;
  bool has_descriptor = false;
  bool has_order = false;
  bool has_shape = false;
  if (!Accept('{')) return Expected("'{'");
  while (!Accept('}')) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::string key, ParseString());
    if (!Accept(':')) return Expected("':'");
    if (key == "descr" && !has_descriptor) {
      SkipBlanks();
      if (!rest_.empty() && rest_[0] == '[') {
        return absl::UnimplementedError(
            "the .npy file's elements are structures, a tensor holds plain numbers");
      }
      SLIPWAY_ASSIGN_OR_RETURN(header.descriptor, ParseString());
      has_descriptor = true;
    } else if (key == "fortran_order" && !has_order) {
      SLIPWAY_ASSIGN_OR_RETURN(header.is_column_major, ParseBool());
      has_order = true;
    } else if (key == "shape" && !has_shape) {
      SLIPWAY_ASSIGN_OR_RETURN(header.shape, ParseShape());
      has_shape = true;
    } else {
      return absl::InvalidArgumentError(absl::StrCat("malformed .npy header: the key '",
                                                     absl::CHexEscape(key.substr(0, 40)),
                                                     "' is unknown or given twice"));
    }
    if (Accept(',')) continue;
    if (!Accept('}')) return Expected("',' or '}'");
    break;
  }
  SkipBlanks();
  if (!rest_.empty()) return Expected("the end");
  if (!has_descriptor || !has_order || !has_shape) {
    return absl::InvalidArgumentError(
        "malformed .npy header: 'descr', 'fortran_order' or 'shape' is missing");
  }
  return header;
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view text) {
  return Parser(text).ParseHeader();
}

}  // namespace slipway
