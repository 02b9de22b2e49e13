#include "core/compiler/fingerprint.h"

#include "absl/strings/str_cat.h"
#include "core/backends/all_backends.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/compiler/compiler_source_digest.h"

namespace slipway {

absl::StatusOr<std::string> FingerprintText() {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string backends, AllBackendFingerprints());
  return absl::StrCat("slipway ", kVersion, "\ncompiler ", CompilerSourceDigest(), "\n", backends);
}

absl::StatusOr<std::string> WorkerFingerprint() {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string text, FingerprintText());
  return Digest::Of(text).hex();
}

}  // namespace slipway
