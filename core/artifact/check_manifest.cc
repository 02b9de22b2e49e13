#include "core/artifact/check_manifest.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/check_function.h"
#include "core/artifact/format_version.h"
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

absl::StatusOr<Tables> CheckManifest(const v1::Manifest& manifest, const ReaderLimits& limits) {
  SLIPWAY_RETURN_IF_ERROR(CheckVersions(manifest));
  const std::string newer = FirstUseOfVersion2(manifest);
  if (manifest.format_version() < 2 && !newer.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("format version ", manifest.format_version(),
                                                   " has no such thing as ", newer));
  }
  if (manifest.format_version() > LowestFormatVersion(manifest)) {
    return absl::InvalidArgumentError(
        absl::StrCat("format version ", manifest.format_version(), " is stated, but ",
                     LowestFormatVersion(manifest), " has all that is used"));
  }
  SLIPWAY_ASSIGN_OR_RETURN(Tables tables, CheckTables(manifest, limits));
  SLIPWAY_RETURN_IF_ERROR(CheckFunctions(tables));
  return tables;
}

}  // namespace slipway
