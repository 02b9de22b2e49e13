#include "tests/common/temp_tree.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"

namespace slipway::testing {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{1} << 30;

}  // namespace

TempTree::TempTree() {
  const char* const test_folder = getenv("TEST_TMPDIR");
  if (test_folder != nullptr) setenv("TMPDIR", test_folder, 1);
  absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create("tree");
  SLIPWAY_CHECK(folder.ok(), folder.status().message());
  folder_ = *std::move(folder);
}

std::string TempTree::Write(absl::string_view name, absl::string_view bytes) const {
  const std::string path = Path(name);
  const absl::Status made = MakeFolders(path.substr(0, path.rfind('/')));
  SLIPWAY_CHECK(made.ok(), made.message());
  const absl::Status written = WriteFileAtomically(path, bytes, /*durable=*/false);
  SLIPWAY_CHECK(written.ok(), written.message());
  return path;
}

std::string TempTree::Read(absl::string_view name) const {
  absl::StatusOr<std::string> bytes = ReadFile(Path(name), kMaxFileBytes);
  SLIPWAY_CHECK(bytes.ok(), bytes.status().message());
  return *std::move(bytes);
}

bool TempTree::Exists(absl::string_view name) const {
  return std::filesystem::exists(std::filesystem::symlink_status(Path(name)));
}

std::vector<std::string> TempTree::List() const {
  std::vector<std::string> names;
  const std::filesystem::path root(path());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const bool is_folder = entry.is_directory() && !entry.is_symlink();
    if (is_folder && !std::filesystem::is_empty(entry.path())) continue;
    names.push_back(
        absl::StrCat(entry.path().lexically_relative(root).string(), is_folder ? "/" : ""));
  }
  std::sort(names.begin(), names.end());
  return names;
}

void TempTree::Truncate(absl::string_view name, int64_t size_bytes) const {
  std::filesystem::resize_file(Path(name), static_cast<uintmax_t>(size_bytes));
}

void TempTree::FlipBit(absl::string_view name, int64_t offset) const {
  std::string bytes = Read(name);
  SLIPWAY_CHECK(offset >= 0 && offset < static_cast<int64_t>(bytes.size()),
                "the offset is outside of the file");
  bytes[static_cast<size_t>(offset)] ^= 1;
  Write(name, bytes);
}

}  // namespace slipway::testing
