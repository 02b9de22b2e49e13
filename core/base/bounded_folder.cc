#include "core/base/bounded_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"

namespace slipway {

void RemoveLongestUnused(const std::string& folder, absl::string_view suffix, int64_t max_bytes) {
  namespace fs = std::filesystem;
  struct Entry {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code skip;
    if (!absl::EndsWith(it->path().native(), suffix)) continue;
    const auto bytes = static_cast<int64_t>(it->file_size(skip));
    if (skip) continue;
    const fs::file_time_type used = it->last_write_time(skip);
    if (skip) continue;
    entries.push_back({used, bytes, it->path()});
    total += bytes;
  }
  if (total <= max_bytes) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= max_bytes / 4 * 3) break;
    std::error_code skip;
    if (fs::remove(entry.path, skip)) total -= entry.bytes;
  }
}

void NoteUse(const std::string& path) {
  std::error_code ignored;
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(), ignored);
}

}  // namespace slipway
