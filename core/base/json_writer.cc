#include "core/base/json_writer.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/base/check.h"
#include "core/base/utf8.h"

namespace slipway {
namespace {

std::string Quote(absl::string_view value) {
  std::string quoted = "\"";
  while (!value.empty()) {
    const auto c = static_cast<unsigned char>(value.front());
    const size_t length = Utf8Length(value);
    if (c == '"' || c == '\\') {
      absl::StrAppend(&quoted, "\\", value.substr(0, 1));
    } else if (c == '\n') {
      absl::StrAppend(&quoted, "\\n");
    } else if (c < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(&quoted, "\\u%04x", c);
    } else if (length == 0) {
      absl::StrAppend(&quoted, "\\ufffd");
    } else {
      absl::StrAppend(&quoted, value.substr(0, length));
    }
    value.remove_prefix(length == 0 ? 1 : length);
  }
  return quoted + "\"";
}

}  // namespace

void JsonWriter::StartValue(absl::string_view name) {
  if (IsInLine()) {
    absl::StrAppend(&text_, is_first_ ? "" : ", ");
  } else if (depth_ > 0) {
    absl::StrAppend(&text_, is_first_ ? "\n" : ",\n", std::string(2 * depth_, ' '));
  }
  if (!name.empty()) absl::StrAppend(&text_, Quote(name), ": ");
  is_first_ = false;
}

void JsonWriter::Begin(absl::string_view name, char bracket) {
  StartValue(name);
  text_ += bracket;
  ++depth_;
  is_first_ = true;
}

void JsonWriter::BeginObjectInLine(absl::string_view name) {
  BeginObject(name);
  if (line_depth_ == 0) line_depth_ = depth_;
}

void JsonWriter::End(char bracket) {
  const bool was_in_line = IsInLine();
  --depth_;
  SLIPWAY_CHECK(depth_ >= 0, "nothing was begun");
  if (depth_ < line_depth_) line_depth_ = 0;
  if (!is_first_ && !was_in_line) absl::StrAppend(&text_, "\n", std::string(2 * depth_, ' '));
  text_ += bracket;
  is_first_ = false;
}

void JsonWriter::Text(absl::string_view name, absl::string_view value) {
  StartValue(name);
  text_ += Quote(value);
}

void JsonWriter::Integer(absl::string_view name, int64_t value) {
  StartValue(name);
  absl::StrAppend(&text_, value);
}

void JsonWriter::Decimal(absl::string_view name, int64_t value, int digits) {
  SLIPWAY_CHECK(digits >= 1 && digits <= 18, "digits");
  StartValue(name);
  // Of the smallest number, too, which has no opposite.
  const std::string all = absl::StrFormat(
      "%0*d", digits + 1,
      value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
  const size_t point = all.size() - static_cast<size_t>(digits);
  absl::StrAppend(&text_, value < 0 ? "-" : "", all.substr(0, point), ".", all.substr(point));
}

void JsonWriter::Real(absl::string_view name, double value) {
  if (!std::isfinite(value)) return Null(name);
  StartValue(name);
  absl::StrAppendFormat(&text_, "%.10g", value);
}

void JsonWriter::Bool(absl::string_view name, bool value) {
  StartValue(name);
  text_ += value ? "true" : "false";
}

void JsonWriter::Null(absl::string_view name) {
  StartValue(name);
  text_ += "null";
}

void JsonWriter::Integers(absl::string_view name, absl::Span<const int64_t> values) {
  StartValue(name);
  absl::StrAppend(&text_, "[", absl::StrJoin(values, ", "), "]");
}

std::string JsonWriter::Take() {
  SLIPWAY_CHECK(depth_ == 0, "something is not ended");
  return std::exchange(text_, "") + "\n";
}

}  // namespace slipway
