#include "core/base/byte_size.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace slipway {
namespace {

struct Unit {
  absl::string_view name;
  int64_t bytes;
};

constexpr Unit kUnits[] = {{"", 1},
                           {"B", 1},
                           {"KiB", int64_t{1} << 10},
                           {"MiB", int64_t{1} << 20},
                           {"GiB", int64_t{1} << 30},
                           {"TiB", int64_t{1} << 40},
                           {"kB", 1000},
                           {"MB", 1000000},
                           {"GB", 1000000000},
                           {"TB", 1000000000000}};

// 2^63 as a double; the first value that does not fit.
constexpr double kTooMany = 9223372036854775808.0;

}  // namespace

absl::StatusOr<int64_t> ParseByteSize(absl::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && (absl::ascii_isdigit(text[digits]) || text[digits] == '.')) {
    ++digits;
  }
  const absl::string_view number = text.substr(0, digits);
  for (const Unit& unit : kUnits) {
    if (unit.name != text.substr(digits)) continue;
    int64_t whole = 0;
    // Whole numbers stay exact beyond the 53 bits of a double.
    if (absl::SimpleAtoi(number, &whole)) {
      if (whole <= INT64_MAX / unit.bytes) return whole * unit.bytes;
      break;
    }
    double value = 0;
    if (unit.bytes > 1 && absl::SimpleAtod(number, &value) &&
        value * static_cast<double>(unit.bytes) < kTooMany) {
      return static_cast<int64_t>(std::llround(value * static_cast<double>(unit.bytes)));
    }
    break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", absl::CHexEscape(text.substr(0, 40)),
                   "' is not a number of bytes such as '4096', '512MiB' or '2GB'"));
}

std::string ExactByteSize(int64_t bytes) {
  int i = 1;  // B
  constexpr int kTebibytes = 5;
  while (i < kTebibytes && bytes != 0 && bytes % kUnits[i + 1].bytes == 0) ++i;
  return absl::StrCat(bytes / kUnits[i].bytes, kUnits[i].name);
}

std::string RoundByteSize(int64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes) / 1024;
  absl::string_view unit = "KiB";
  // What would be rounded to 1024 belongs to the next unit.
  for (const absl::string_view next : {"MiB", "GiB", "TiB"}) {
    if (value < 1023.5) break;
    value /= 1024;
    unit = next;
  }
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f %s", decimals, value, unit);
}

}  // namespace slipway
