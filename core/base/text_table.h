// Tables that line up, and numbers for people.
#ifndef SLIPWAY_CORE_BASE_TEXT_TABLE_H_
#define SLIPWAY_CORE_BASE_TEXT_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace slipway {

// Columns as wide as their widest cell, two blanks apart. Control characters in cells, which may come from a
// model or a peer, are shown as "\xNN".
class TextTable {
 public:
  // A column whose title begins with ">" is aligned to the right.
  explicit TextTable(const std::vector<std::string>& titles);
  // REQUIRES: as many cells as titles.
  void Row(std::vector<std::string> cells);
  // With `titles` false only the rows. Each line begins with `indent` and ends in a newline.
  std::string Render(absl::string_view indent = "", bool titles = true) const;

 private:
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // The titles first.
};

// Three significant digits: "812 ns", "1.23 ms", "45.6 s", "1 h 2 min".
std::string FormatTime(absl::Duration duration);
// "0 B", "512 B", "1.5 KiB", "97.6 MiB".
std::string FormatBytes(int64_t bytes);
// "2026-11-21 10:00:00 UTC"; "-" for an infinite time.
std::string FormatWallTime(absl::Time time);
// Text that may come from anywhere, safe for a terminal: bytes of control characters, and those that are not
// UTF-8, become "\xNN".
std::string Printable(absl::string_view text);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_TEXT_TABLE_H_
