// JsonWriter: writes JSON (RFC 8259), indented, in the order of the calls.
#ifndef SLIPWAY_CORE_BASE_JSON_WRITER_H_
#define SLIPWAY_CORE_BASE_JSON_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace slipway {

// An empty `name` stands for an element of an array, or the whole text. Not thread-safe.
class JsonWriter {
 public:
  void BeginObject(absl::string_view name = "") { Begin(name, '{'); }
  // The same in one line, with all that is in it.
  void BeginObjectInLine(absl::string_view name = "");
  void EndObject() { End('}'); }
  void BeginArray(absl::string_view name = "") { Begin(name, '['); }
  void EndArray() { End(']'); }

  // Bytes that are not UTF-8 become U+FFFD.
  void Text(absl::string_view name, absl::string_view value);
  void Integer(absl::string_view name, int64_t value);
  // `value` / 10^`digits`, exactly: Decimal("us", 1'234'500, 3) is "us": 1234.500. REQUIRES: digits are 1 to 18.
  void Decimal(absl::string_view name, int64_t value, int digits);
  // null for what is not finite.
  void Real(absl::string_view name, double value);
  void Bool(absl::string_view name, bool value);
  void Null(absl::string_view name);
  // An array in one line.
  void Integers(absl::string_view name, absl::Span<const int64_t> values);

  // The text, ending in a newline. REQUIRES: all that was begun is ended.
  std::string Take();

 private:
  void Begin(absl::string_view name, char bracket);
  void End(char bracket);
  void StartValue(absl::string_view name);
  bool IsInLine() const { return line_depth_ > 0 && depth_ >= line_depth_; }

  std::string text_;
  int depth_ = 0;
  int line_depth_ = 0;  // From this depth on all is in one line; 0: nothing is.
  bool is_first_ = true;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_JSON_WRITER_H_
