#include "server/audit/audit_entry.h"

#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "core/base/json_writer.h"
#include "core/base/utf8.h"

namespace slipway::server {
namespace {

constexpr absl::string_view kTimeName = "time";
constexpr absl::string_view kTimeFormat = "%Y-%m-%dT%H:%M:%E6SZ";

struct TextField {
  absl::string_view name;
  std::string AuditEntry::*text;
};
// In the order in which they are written, after the time.
constexpr TextField kTexts[] = {
    {"owner", &AuditEntry::owner},     {"identity", &AuditEntry::identity},
    {"address", &AuditEntry::address}, {"call", &AuditEntry::call},
    {"subject", &AuditEntry::subject}, {"outcome", &AuditEntry::outcome},
    {"message", &AuditEntry::message}, {"request_id", &AuditEntry::request_id},
};

// Splits no character of UTF-8.
std::string Bounded(absl::string_view text) {
  if (text.size() <= kMaxAuditTextBytes) return std::string(text);
  constexpr absl::string_view kCut = "...";
  constexpr size_t kLongestRest = 3;
  size_t end = kMaxAuditTextBytes - kCut.size();
  const size_t least = end - kLongestRest;
  while (end > least && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return absl::StrCat(text.substr(0, end), kCut);
}

// Terminals may obey C1, the control characters U+0080 to U+009F, which JSON lets pass.
std::string EscapeC1(absl::string_view line) {
  std::string escaped;
  for (size_t i = 0; i < line.size(); ++i) {
    const auto next = static_cast<unsigned char>(i + 1 < line.size() ? line[i + 1] : 0);
    if (line[i] == '\xc2' && next >= 0x80 && next < 0xa0) {
      absl::StrAppendFormat(&escaped, "\\u%04x", next);
      ++i;
    } else {
      escaped.push_back(line[i]);
    }
  }
  return escaped;
}

// Takes what FormatAuditLine writes off the front of a line, and other JSON objects that hold nothing but texts.
class LineReader {
 public:
  explicit LineReader(absl::string_view line) : rest_(line) {}

  bool Take(char c) {
    rest_ = absl::StripLeadingAsciiWhitespace(rest_);
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool TakeText(std::string& text) {
    if (!Take('"')) return false;
    text.clear();
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) return false;
      if (c != '\\') {
        text.push_back(c);
      } else if (!TakeEscaped(text)) {
        return false;
      }
    }
    return false;
  }

  bool IsAtEnd() const { return absl::StripLeadingAsciiWhitespace(rest_).empty(); }

 private:
  bool TakeEscaped(std::string& text) {
    if (rest_.empty()) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    constexpr absl::string_view kNames = "\"\\/bfnrt";
    constexpr absl::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (const size_t at = kNames.find(c); at != absl::string_view::npos) {
      text.push_back(kMeanings[at]);
      return true;
    }
    return c == 'u' && TakeNumber(text);
  }

  // Four hexadecimal digits; halves of a character beyond U+FFFF are not written, and refused.
  bool TakeNumber(std::string& text) {
    if (rest_.size() < 4) return false;
    uint32_t number = 0;
    for (const char digit : rest_.substr(0, 4)) {
      if (!absl::ascii_isxdigit(static_cast<unsigned char>(digit))) return false;
      const char lower = absl::ascii_tolower(static_cast<unsigned char>(digit));
      number = number * 16 + static_cast<uint32_t>(lower <= '9' ? lower - '0' : lower - 'a' + 10);
    }
    rest_.remove_prefix(4);
    if (number >= 0xd800 && number <= 0xdfff) return false;
    if (number < 0x80) {
      text.push_back(static_cast<char>(number));
      return true;
    }
    if (number < 0x800) {
      text.push_back(static_cast<char>(0xc0 | (number >> 6)));
    } else {
      text.push_back(static_cast<char>(0xe0 | (number >> 12)));
      text.push_back(static_cast<char>(0x80 | ((number >> 6) & 0x3f)));
    }
    text.push_back(static_cast<char>(0x80 | (number & 0x3f)));
    return true;
  }

  absl::string_view rest_;
};

}  // namespace

std::string FormatAuditLine(const AuditEntry& entry) {
  JsonWriter json;
  json.BeginObject();
  json.Text(kTimeName, absl::FormatTime(kTimeFormat, entry.time, absl::UTCTimeZone()));
  for (const TextField& field : kTexts) {
    const std::string& text = entry.*field.text;
    if (!text.empty()) json.Text(field.name, Bounded(text));
  }
  json.EndObject();
  // In texts a newline is escaped: those that are left, with the blanks after them, are between the fields.
  const std::string line =
      absl::StrReplaceAll(json.Take(), {{"{\n  ", "{"}, {"\n  ", " "}, {"\n", ""}});
  return absl::StrCat(EscapeC1(line), "\n");
}

absl::optional<AuditEntry> ParseAuditLine(absl::string_view line) {
  if (line.size() > kMaxAuditLineBytes || !IsUtf8(line)) return absl::nullopt;
  AuditEntry entry;
  bool has_time = false;
  LineReader reader(line);
  if (!reader.Take('{')) return absl::nullopt;
  do {
    std::string name;
    std::string text;
    if (!reader.TakeText(name) || !reader.Take(':') || !reader.TakeText(text)) return absl::nullopt;
    if (name == kTimeName) {
      if (!absl::ParseTime(absl::RFC3339_full, text, &entry.time, nullptr)) return absl::nullopt;
      has_time = true;
    }
    for (const TextField& field : kTexts) {
      if (name == field.name) entry.*field.text = std::move(text);
    }
  } while (reader.Take(','));
  if (!reader.Take('}') || !reader.IsAtEnd() || !has_time) return absl::nullopt;
  return entry;
}

}  // namespace slipway::server
