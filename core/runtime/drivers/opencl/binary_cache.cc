#include "core/runtime/drivers/opencl/binary_cache.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/bounded_folder.h"
#include "core/base/files.h"
#include "core/base/own_files.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

// The head of a file: this line, the key's digest and that of the binary, a line each.
constexpr char kMagic[] = "slipway opencl binary 1\n";
constexpr int64_t kMaxHeadBytes = 512;
constexpr char kSuffix[] = ".bin";

std::string HeadOf(const Digest& key, absl::string_view binary) {
  return absl::StrCat(kMagic, key.ToString(), "\n", Digest::Of(binary).ToString(), "\n");
}

// Nothing if the file is not what was kept under the key.
std::optional<std::string> BinaryIn(absl::string_view file, const Digest& key) {
  if (!absl::ConsumePrefix(&file, kMagic)) return std::nullopt;
  if (!absl::ConsumePrefix(&file, absl::StrCat(key.ToString(), "\n"))) return std::nullopt;
  const size_t end = file.find('\n');
  if (end == absl::string_view::npos) return std::nullopt;
  const absl::string_view binary = file.substr(end + 1);
  if (file.substr(0, end) != Digest::Of(binary).ToString() || binary.empty()) return std::nullopt;
  return std::string(binary);
}

}  // namespace

Digest BinaryKey::ToDigest() const {
  Hasher hasher;
  for (const std::string* part : {&platform, &device, &driver, &options}) {
    hasher.Update(absl::StrCat(part->size(), ":", *part));
  }
  hasher.Update(source.ToString());
  return hasher.Finish();
}

absl::StatusOr<BinaryCache> BinaryCache::Open(std::string folder, int64_t max_bytes) {
  SLIPWAY_RETURN_IF_ERROR(MakeOwnFolder(folder));
  return BinaryCache(std::move(folder), max_bytes);
}

std::string BinaryCache::PathOf(const BinaryKey& key) const {
  return JoinPath(folder_, absl::StrCat(key.ToDigest().hex(), kSuffix));
}

std::optional<std::string> BinaryCache::Get(const BinaryKey& key) const {
  const absl::StatusOr<std::string> file = ReadFile(PathOf(key), kMaxBinaryBytes + kMaxHeadBytes);
  if (absl::IsNotFound(file.status())) return std::nullopt;
  std::optional<std::string> binary;
  if (file.ok()) binary = BinaryIn(*file, key.ToDigest());
  if (binary.has_value()) {
    NoteUse(PathOf(key));
  } else {
    Drop(key);
  }
  return binary;
}

absl::Status BinaryCache::Put(const BinaryKey& key, absl::string_view binary) const {
  if (static_cast<int64_t>(binary.size()) > kMaxBinaryBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a binary of ", binary.size(), " bytes is too large to keep"));
  }
  SLIPWAY_RETURN_IF_ERROR(WriteFileAtomically(
      PathOf(key), absl::StrCat(HeadOf(key.ToDigest(), binary), binary), /*durable=*/false, 0600));
  RemoveLongestUnused(folder_, kSuffix, max_bytes_);
  return absl::OkStatus();
}

void BinaryCache::Drop(const BinaryKey& key) const { RemoveTree(PathOf(key)).IgnoreError(); }

}  // namespace slipway
