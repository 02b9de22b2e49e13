#include "core/artifact/memory_map.h"

#include <iterator>

namespace slipway {

void MemoryMap::Write(int space, int64_t begin, int64_t end, uint32_t buffer) {
  if (begin == end) return;
  std::map<int64_t, Range>& ranges = spaces_[space];
  auto it = ranges.lower_bound(begin);
  if (it != ranges.begin()) {
    const auto before = std::prev(it);
    const Range range = before->second;
    if (range.end > begin) {
      before->second.end = begin;
      if (range.end > end) ranges.emplace(end, range);
    }
  }
  while (it != ranges.end() && it->first < end) {
    const Range range = it->second;
    it = ranges.erase(it);
    if (range.end > end) {
      ranges.emplace(end, range);
      break;
    }
  }
  ranges.emplace(begin, Range{end, buffer});
}

bool MemoryMap::Holds(int space, int64_t begin, int64_t end, uint32_t buffer) const {
  if (begin == end) return true;
  const auto found = spaces_.find(space);
  if (found == spaces_.end()) return false;
  const std::map<int64_t, Range>& ranges = found->second;
  auto it = ranges.upper_bound(begin);
  if (it == ranges.begin()) return false;
  --it;
  for (int64_t reached = begin; reached < end; ++it) {
    if (it == ranges.end() || it->first > reached || it->second.end <= reached ||
        it->second.buffer != buffer) {
      return false;
    }
    reached = it->second.end;
  }
  return true;
}

}  // namespace slipway
