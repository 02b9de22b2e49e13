// Page: a part of a long list, and where the next one begins.
#ifndef SLIPWAY_SERVER_PAGE_H_
#define SLIPWAY_SERVER_PAGE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace slipway::server {

template <typename Item>
struct Page {
  std::vector<Item> items;
  // The id of the last row that was looked at, when there may be more behind it; else empty.
  std::string next;
};

// How much a page may be.
struct PageLimits {
  int items = 0;
  int64_t bytes = 0;  // One item may have more by itself.
  int64_t rows =
      0;  // Looked at, whether they come onto the page or not: nobody holds the store up for long.
};

// Fills a page from rows in their order; `Item` is a protocol buffer. Not thread-safe.
template <typename Item>
class PageFiller {
 public:
  explicit PageFiller(const PageLimits& limits) : limits_(limits) {}

  // Goes on to the next row; false when the page is complete without it.
  bool Look(absl::string_view id) {
    last_ = std::exchange(current_, std::string(id));
    const bool is_full = static_cast<int>(page_.items.size()) == limits_.items;
    if (!is_full && looked_at_++ < limits_.rows) return true;
    page_.next = last_;
    return false;
  }

  // Puts what the row has onto the page; false when that has no room and the page is complete.
  bool Add(Item item) {
    const auto bytes = static_cast<int64_t>(item.ByteSizeLong());
    if (!page_.items.empty() && bytes > limits_.bytes - bytes_) {
      page_.next = last_;
      return false;
    }
    bytes_ += bytes;
    page_.items.push_back(std::move(item));
    return true;
  }

  Page<Item> Take() && { return std::move(page_); }

 private:
  const PageLimits limits_;
  Page<Item> page_;
  std::string last_;     // The row before
  std::string current_;  // this one.
  int64_t looked_at_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace slipway::server

#endif  // SLIPWAY_SERVER_PAGE_H_
