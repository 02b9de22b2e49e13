#include "server/scheduler/selector_index.h"

#include <algorithm>

#include "server/limits.h"

namespace slipway::server {

void SelectorIndex::Use(const std::string& text, const Selector& selector) {
  const auto [number, is_new] = numbers_.try_emplace(text, next_);
  if (is_new) {
    selectors_.emplace(next_++, Entry{.text = text, .selector = selector});
  } else {
    selectors_.at(number->second).is_used = true;
    idle_.erase(number->second);
  }
}

void SelectorIndex::Leave(const std::string& text) {
  const int64_t number = numbers_.at(text);
  selectors_.at(number).is_used = false;
  idle_.insert(number);
  if (idle_.size() <= kMaxIdle) return;
  const auto oldest = selectors_.find(*idle_.begin());
  idle_.erase(idle_.begin());
  numbers_.erase(oldest->second.text);
  selectors_.erase(oldest);
}

const std::vector<absl::string_view>& SelectorIndex::Matching(
    const std::string& device, const std::shared_ptr<const DeviceAttributes>& attributes) {
  matching_.clear();
  if (selectors_.empty() || attributes == nullptr) return matching_;
  // Those that are known no more are not told of; far more than there can be are not all known.
  if (devices_.size() > 2 * kMaxPeers) devices_.clear();
  Device& known = devices_[device];
  if (known.attributes != attributes) known = {.attributes = attributes};
  for (auto it = selectors_.lower_bound(known.seen); it != selectors_.end(); ++it) {
    ++matched_;
    if (it->second.selector.Matches(*attributes)) known.matches.push_back(it->first);
  }
  known.seen = next_;
  size_t kept = 0;
  for (const int64_t number : known.matches) {
    const auto entry = selectors_.find(number);
    if (entry == selectors_.end()) continue;
    known.matches[kept++] = number;
    if (entry->second.is_used) matching_.push_back(entry->second.text);
  }
  known.matches.resize(kept);
  return matching_;
}

}  // namespace slipway::server
