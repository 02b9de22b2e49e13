#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/manifest.h"
#include "core/artifact/validate_function.h"
#include "core/artifact/validate_tables.h"
#include "core/base/status_macros.h"

namespace slipway {

absl::Status ValidateManifest(const v1::Manifest& manifest, const ReaderLimits& limits) {
  SLIPWAY_RETURN_IF_ERROR(ValidateTables(manifest, limits));
  if (manifest.functions_size() > 1) {
    return absl::UnimplementedError("programs of several functions are not supported");
  }
  if (manifest.entry() >= static_cast<uint32_t>(manifest.functions_size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("entry function ", manifest.entry(), " does not exist"));
  }
  const v1::Function& entry = manifest.functions(static_cast<int>(manifest.entry()));
  return Annotate(ValidateFunction(manifest, entry, limits),
                  absl::StrCat("function '", absl::Utf8SafeCEscape(entry.name()), "'"));
}

}  // namespace slipway
