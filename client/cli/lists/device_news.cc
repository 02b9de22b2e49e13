#include "client/cli/lists/device_news.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/text_table.h"

namespace slipway::cli {

DeviceNews::DeviceNews(std::vector<const DeviceColumn*> columns)
    : columns_(std::move(columns)), widths_(columns_.size(), 0) {}

std::string DeviceNews::Take(const std::vector<Device>& listed, absl::Time now) {
  std::vector<std::vector<std::string>> news;
  std::map<std::string, std::string> told;
  for (const Device& device : listed) {
    std::vector<std::string> cells;
    std::string looks;
    for (size_t i = 0; i < columns_.size(); ++i) {
      cells.push_back(Printable(columns_[i]->cell(device, now)));
      widths_[i] = std::max(widths_[i], cells[i].size());
      if (!columns_[i]->always_moves) absl::StrAppend(&looks, cells[i], "\n");
    }
    const auto before = told_.find(device.id);
    if (before == told_.end() || before->second != looks) news.push_back(std::move(cells));
    told[device.id] = std::move(looks);
  }
  const std::string time = FormatWallTime(now);
  std::string lines;
  for (const std::vector<std::string>& cells : news) {
    absl::StrAppend(&lines, time);
    for (size_t i = 0; i < cells.size(); ++i) {
      const size_t width = i + 1 == cells.size() ? 0 : widths_[i];  // No blanks at the end.
      absl::StrAppendFormat(&lines, "  %-*s", static_cast<int>(width), cells[i]);
    }
    absl::StrAppend(&lines, "\n");
  }
  for (const auto& [id, looks] : told_) {
    if (!told.contains(id)) {
      absl::StrAppend(&lines, time, "  ", Printable(id), " is not listed any more\n");
    }
  }
  told_ = std::move(told);
  return lines;
}

}  // namespace slipway::cli
