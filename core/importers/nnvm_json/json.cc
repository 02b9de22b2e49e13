#include "core/importers/nnvm_json/json.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Json> Run() {
    SLIPWAY_ASSIGN_OR_RETURN(Json value, Value(0));
    SkipBlanks();
    if (at_ != text_.size()) return Error("the end");
    return value;
  }

 private:
  absl::Status Error(absl::string_view expected) const {
    return absl::InvalidArgumentError(
        absl::StrCat("the text is no JSON: at byte ", at_, " ", expected, " was expected"));
  }
  void SkipBlanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }
  bool Take(absl::string_view token) {
    SkipBlanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  absl::StatusOr<Json> Value(int depth) {
    if (depth > kMaxJsonNesting || ++values_ > kMaxJsonValues) {
      return absl::ResourceExhaustedError(absl::StrCat("the JSON text is nested deeper than ",
                                                       kMaxJsonNesting, " or has more than ",
                                                       kMaxJsonValues, " values"));
    }
    if (Take("{")) return ObjectBehindBrace(depth);
    if (Take("[")) return ArrayBehindBracket(depth);
    if (Take("\"")) {
      SLIPWAY_ASSIGN_OR_RETURN(std::string text, TextBehindQuote());
      return Json(std::move(text));
    }
    if (Take("true")) return Json(true);
    if (Take("false")) return Json(false);
    if (Take("null")) return Json();
    return Number();
  }

  absl::StatusOr<Json> ObjectBehindBrace(int depth) {
    Json::Object object;
    if (Take("}")) return Json(std::move(object));
    do {
      if (!Take("\"")) return Error("a name in quotes");
      SLIPWAY_ASSIGN_OR_RETURN(std::string name, TextBehindQuote());
      if (!Take(":")) return Error("\":\"");
      SLIPWAY_ASSIGN_OR_RETURN(Json value, Value(depth + 1));
      object.emplace_back(std::move(name), std::move(value));
    } while (Take(","));
    if (!Take("}")) return Error("\"}\"");
    return Json(std::move(object));
  }

  absl::StatusOr<Json> ArrayBehindBracket(int depth) {
    Json::Array array;
    if (Take("]")) return Json(std::move(array));
    do {
      SLIPWAY_ASSIGN_OR_RETURN(Json value, Value(depth + 1));
      array.push_back(std::move(value));
    } while (Take(","));
    if (!Take("]")) return Error("\"]\"");
    return Json(std::move(array));
  }

  absl::StatusOr<std::string> TextBehindQuote() {
    std::string text;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return text;
      }
      if (static_cast<unsigned char>(c) < 0x20) return Error("no control character");
      if (c != '\\') {
        text += c;
        continue;
      }
      ++at_;
      SLIPWAY_RETURN_IF_ERROR(Escape(text));
    }
    return Error("a quote");
  }

  // What stands behind a backslash; leaves its last character to be skipped.
  absl::Status Escape(std::string& text) {
    constexpr absl::string_view kLetters = "\"\\/bfnrt";
    constexpr absl::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = at_ < text_.size() ? text_[at_] : '\0';
    const size_t known = kLetters.find(letter);
    if (letter != '\0' && known != absl::string_view::npos) {
      text += kMeanings[known];
      return absl::OkStatus();
    }
    uint32_t code = 0;
    const absl::string_view digits = text_.substr(std::min(at_ + 1, text_.size()), 4);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (letter != 'u' || parsed.ptr != digits.data() + 4) return Error("an escape");
    // Pairs of surrogates stand for characters that no graph needs.
    if (code >= 0xd800 && code < 0xe000) return Error("a character of the basic plane");
    at_ += 4;
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xc0 | code >> 6);
      text += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      text += static_cast<char>(0xe0 | code >> 12);
      text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      text += static_cast<char>(0x80 | (code & 0x3f));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Json> Number() {
    double value = 0;
    const char* begin = text_.data() + at_;
    const bool starts = at_ < text_.size() && (absl::ascii_isdigit(*begin) || *begin == '-');
    const auto parsed = std::from_chars(begin, text_.data() + text_.size(), value);
    if (!starts || parsed.ec != std::errc()) return Error("a value");
    at_ += parsed.ptr - begin;
    return Json(value);
  }

  const absl::string_view text_;
  size_t at_ = 0;
  int64_t values_ = 0;
};

}  // namespace

const Json* Json::Find(absl::string_view name) const {
  if (object() == nullptr) return nullptr;
  for (const auto& [key, value] : *object()) {
    if (key == name) return &value;
  }
  return nullptr;
}

absl::StatusOr<Json> ParseJson(absl::string_view text) { return Parser(text).Run(); }

}  // namespace slipway
