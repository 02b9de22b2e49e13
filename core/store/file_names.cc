#include "core/store/file_names.h"

#include "absl/strings/str_cat.h"
#include "core/base/files.h"

namespace slipway {
namespace {

constexpr size_t kParentDigits = 2;

}  // namespace

std::string BlobsFolder(absl::string_view root) { return JoinPath(root, "blobs"); }

std::string PartialFolder(absl::string_view root) { return JoinPath(root, "partial"); }

std::string SoundFolder(absl::string_view root) { return JoinPath(root, "sound"); }

std::string CompiledFolder(absl::string_view root) { return JoinPath(root, "compiled"); }

std::string HexParent(absl::string_view folder, absl::string_view hex) {
  return JoinPath(folder, hex.substr(0, kParentDigits));
}

std::string HexPath(absl::string_view folder, absl::string_view hex) {
  return JoinPath(HexParent(folder, hex), hex.substr(kParentDigits));
}

std::string ParseHexPath(absl::string_view parent_name, absl::string_view name) {
  if (parent_name.size() != kParentDigits) return "";
  std::string hex = absl::StrCat(parent_name, name);
  if (!Digest::FromHex(hex, 0).ok()) return "";
  return hex;
}

std::string PartialPath(absl::string_view root, const Digest& digest) {
  return JoinPath(PartialFolder(root), absl::StrCat(digest.hex(), ".", digest.size_bytes()));
}

std::string NewFilePattern(absl::string_view root) {
  return JoinPath(PartialFolder(root), "new.XXXXXX");
}

}  // namespace slipway
