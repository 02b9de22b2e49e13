#include "core/codegen/kernel_cache.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/bounded_folder.h"
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
      NoteUse(path);
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
  RemoveLongestUnused(options_.folder, kSuffix, options_.max_bytes);
  return absl::OkStatus();
}

}  // namespace slipway
