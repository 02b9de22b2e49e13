#include "client/terminal/listing.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace slipway::cli {
namespace {

constexpr int kUsualWidth = 80;
constexpr size_t kBetween = 2;

}  // namespace

size_t CountCharacters(absl::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string CommonPrefix(absl::Span<const std::string> words) {
  absl::string_view common = words.front();
  for (const absl::string_view word : words) {
    const auto [end, other] = std::mismatch(common.begin(), common.end(), word.begin(), word.end());
    common = common.substr(0, static_cast<size_t>(end - common.begin()));
  }
  // Not in the middle of a character.
  const absl::string_view first = words.front();
  while (common.size() < first.size() && (first[common.size()] & 0xc0) == 0x80) {
    common.remove_suffix(1);
  }
  return std::string(common);
}

std::string InColumns(absl::Span<const std::string> words, int width) {
  const std::string common = words.empty() ? "" : CommonPrefix(words);
  const size_t folder = common.rfind('/');
  std::vector<absl::string_view> shown;
  size_t widest = 0;
  for (const absl::string_view word : words) {
    shown.push_back(folder == std::string::npos ? word : word.substr(folder + 1));
    widest = std::max(widest, CountCharacters(shown.back()));
  }
  const auto room = static_cast<size_t>(width > 0 ? width : kUsualWidth);
  const size_t columns = std::max<size_t>(1, (room + kBetween - 1) / (widest + kBetween));
  const size_t rows = (shown.size() + columns - 1) / columns;
  std::string text;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t at = row; at < shown.size(); at += rows) {
      absl::StrAppend(&text, shown[at]);
      if (at + rows >= shown.size()) break;
      text.append(widest + kBetween - CountCharacters(shown[at]), ' ');
    }
    text += '\n';
  }
  return text;
}

}  // namespace slipway::cli
