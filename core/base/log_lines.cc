#include "core/base/log_lines.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/utf8.h"

namespace slipway {

bool LogLines::Add(absl::string_view text) {
  absl::MutexLock lock(&mutex_);
  const bool had_none = HasNone();
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const size_t size = std::min({end, text.size(), kMaxLineBytes - begun_.size()});
    begun_.append(text.data(), size);
    text.remove_prefix(size);
    if (size == end) {
      text.remove_prefix(1);
      FinishLine();
    } else if (begun_.size() == kMaxLineBytes) {
      FinishLine();
    }
  }
  return had_none && !HasNone();
}

bool LogLines::EndLine() {
  absl::MutexLock lock(&mutex_);
  if (begun_.empty()) return false;
  const bool had_none = HasNone();
  FinishLine();
  return had_none;
}

void LogLines::FinishLine() {
  const size_t size = begun_.size() + 1;
  // Once some are dropped all are, so that what is said of them stands in its place.
  if (dropped_ > 0 || lines_.size() + size > max_bytes_) {
    dropped_ += static_cast<int64_t>(size);
  } else {
    absl::StrAppend(&lines_, begun_, "\n");
  }
  begun_.clear();
}

bool LogLines::is_empty() const {
  absl::MutexLock lock(&mutex_);
  return HasNone();
}

std::string LogLines::Take() {
  absl::MutexLock lock(&mutex_);
  std::string taken = ToUtf8(lines_);
  if (dropped_ > 0) {
    absl::StrAppend(&taken, "[", dropped_,
                    " bytes of the log were dropped: they came faster than they were taken]\n");
  }
  lines_.clear();
  dropped_ = 0;
  return taken;
}

}  // namespace slipway
