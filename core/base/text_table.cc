#include "core/base/text_table.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/check.h"
#include "core/base/utf8.h"

namespace slipway {
namespace {

// Columns on a terminal: characters, not bytes.
size_t Width(absl::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// Three significant digits; `value` is below 1000.
std::string ThreeDigits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f", decimals, value);
}

}  // namespace

TextTable::TextTable(const std::vector<std::string>& titles) {
  std::vector<std::string> row;
  for (absl::string_view title : titles) {
    right_.push_back(absl::StartsWith(title, ">"));
    row.push_back(std::string(right_.back() ? title.substr(1) : title));
  }
  rows_.push_back(std::move(row));
}

void TextTable::Row(std::vector<std::string> cells) {
  SLIPWAY_CHECK(cells.size() == right_.size(), "a row has as many cells as titles");
  for (std::string& cell : cells) cell = Printable(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::Render(absl::string_view indent, bool titles) const {
  std::vector<size_t> widths(right_.size());
  for (size_t r = titles ? 0 : 1; r < rows_.size(); ++r) {
    for (size_t c = 0; c < right_.size(); ++c) widths[c] = std::max(widths[c], Width(rows_[r][c]));
  }
  std::string text;
  for (size_t r = titles ? 0 : 1; r < rows_.size(); ++r) {
    std::string line(indent);
    for (size_t c = 0; c < right_.size(); ++c) {
      const std::string blanks(widths[c] - Width(rows_[r][c]), ' ');
      absl::StrAppend(&line, c == 0 ? "" : "  ", right_[c] ? blanks : "", rows_[r][c],
                      right_[c] ? "" : blanks);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string FormatTime(absl::Duration duration) {
  const double ns = absl::ToDoubleNanoseconds(duration);
  if (ns < 999.5) return absl::StrFormat("%.0f ns", ns);
  if (ns < 999.5e3) return absl::StrCat(ThreeDigits(ns / 1e3), " us");
  if (ns < 999.5e6) return absl::StrCat(ThreeDigits(ns / 1e6), " ms");
  if (ns < 119.5e9) return absl::StrCat(ThreeDigits(ns / 1e9), " s");
  const int64_t minutes = static_cast<int64_t>(std::round(ns / 60e9));
  if (minutes < 60) return absl::StrCat(minutes, " min");
  return absl::StrCat(minutes / 60, " h ", minutes % 60, " min");
}

std::string FormatBytes(int64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.*f %s", value < 99.95 ? 1 : 0, value, kUnits[unit]);
}

std::string FormatWallTime(absl::Time time) {
  if (time == absl::InfinitePast() || time == absl::InfiniteFuture()) return "-";
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", time, absl::UTCTimeZone());
}

std::string Printable(absl::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const size_t length = Utf8Length(text);
    // C0, DEL, and C1, which some terminals obey as well.
    const bool is_control =
        byte < 0x20 || byte == 0x7f ||
        (length == 2 && byte == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0);
    const size_t taken = length == 0 ? 1 : length;
    if (length == 0 || is_control) {
      for (const char c : text.substr(0, taken)) {
        absl::StrAppendFormat(&printable, "\\x%02x", static_cast<unsigned char>(c));
      }
    } else {
      absl::StrAppend(&printable, text.substr(0, taken));
    }
    text.remove_prefix(taken);
  }
  return printable;
}

}  // namespace slipway
