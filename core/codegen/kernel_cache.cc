#include "core/codegen/kernel_cache.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/files.h"
#include "core/base/status_macros.h"
#include "core/codegen/limits.h"

namespace slipway {
namespace {

// A file is this line, the object's digest in hexadecimal, a newline, and the object.
constexpr char kMagic[] = "slipway kernel 1\n";
constexpr size_t kHeaderBytes = sizeof(kMagic) - 1 + 64 + 1;
constexpr char kSuffix[] = ".kernel";

}  // namespace

absl::StatusOr<std::unique_ptr<FileKernelCache>> FileKernelCache::Create(Options options) {
  SLIPWAY_RETURN_IF_ERROR_WITH(MakeFolders(options.folder), "the kernel cache");
  return std::unique_ptr<FileKernelCache>(new FileKernelCache(std::move(options)));
}

std::string FileKernelCache::PathOf(const Digest& key) const {
  return JoinPath(options_.folder, absl::StrCat(key.hex(), kSuffix));
}

std::optional<std::string> FileKernelCache::Get(const Digest& key) {
  const std::string path = PathOf(key);
  absl::StatusOr<std::string> bytes = ReadFile(path, kMaxObjectBytes + kHeaderBytes);
  if (!bytes.ok()) return std::nullopt;
  if (bytes->size() > kHeaderBytes && absl::StartsWith(*bytes, kMagic)) {
    std::string object = bytes->substr(kHeaderBytes);
    if (bytes->compare(sizeof(kMagic) - 1, 64, Digest::Of(object).hex()) == 0) {
      std::error_code ignored;  // The age only guides eviction.
      std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(),
                                       ignored);
      return object;
    }
  }
  (void)RemoveTree(path);
  return std::nullopt;
}

absl::Status FileKernelCache::Put(const Digest& key, absl::string_view object) {
  SLIPWAY_RETURN_IF_ERROR_WITH(
      WriteFileAtomically(PathOf(key), absl::StrCat(kMagic, Digest::Of(object).hex(), "\n", object),
                          /*durable=*/false),
      "the kernel cache");
  Evict();
  return absl::OkStatus();
}

void FileKernelCache::Evict() const {
  namespace fs = std::filesystem;
  struct Entry {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  // Other processes may remove files while we look: whatever fails is skipped.
  for (fs::directory_iterator it(options_.folder, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code skip;
    if (it->path().extension() != kSuffix) continue;
    const int64_t bytes = static_cast<int64_t>(it->file_size(skip));
    if (skip) continue;
    const fs::file_time_type used = it->last_write_time(skip);
    if (skip) continue;
    entries.push_back({used, bytes, it->path()});
    total += bytes;
  }
  if (total <= options_.max_bytes) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  // Down to three quarters, so that not every Put has to look for something to remove.
  for (const Entry& entry : entries) {
    if (total <= options_.max_bytes / 4 * 3) break;
    std::error_code skip;
    if (fs::remove(entry.path, skip)) total -= entry.bytes;
  }
}

}  // namespace slipway
