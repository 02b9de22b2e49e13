#include "core/artifact/check_manifest.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/check_function.h"
#include "core/artifact/check_tables.h"
#include "core/base/status_macros.h"

namespace slipway {

absl::Status CheckVersions(const v1::Manifest& manifest) {
  if (manifest.format_version() == 0) {
    return absl::InvalidArgumentError("format version is not set");
  }
  if (manifest.format_version() > kManifestFormatVersion) {
    return absl::UnimplementedError(
        absl::StrCat("format version ", manifest.format_version(), " is newer than this reader's ",
                     kManifestFormatVersion, "; update it or compile with an older Slipway"));
  }
  if (manifest.min_reader_abi() == 0) {
    return absl::InvalidArgumentError("kernel ABI version is not set");
  }
  for (const std::string& feature : manifest.required_features()) {
    return absl::UnimplementedError(
        absl::StrCat("required feature '", absl::Utf8SafeCEscape(feature), "' is not supported"));
  }
  return absl::OkStatus();
}

absl::Status CheckManifest(const v1::Manifest& manifest, const ReaderLimits& limits) {
  SLIPWAY_RETURN_IF_ERROR(CheckVersions(manifest));
  SLIPWAY_RETURN_IF_ERROR(CheckTables(manifest, limits));
  if (manifest.functions_size() > 1) {
    return absl::UnimplementedError("programs of several functions are not supported");
  }
  if (manifest.entry() >= static_cast<uint32_t>(manifest.functions_size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("entry function ", manifest.entry(), " does not exist"));
  }
  const v1::Function& entry = manifest.functions(static_cast<int>(manifest.entry()));
  return Annotate(CheckFunction(manifest, entry, limits),
                  absl::StrCat("function '", absl::Utf8SafeCEscape(entry.name()), "'"));
}

}  // namespace slipway
