#include "core/compiler/fingerprint.h"

#include "absl/strings/str_cat.h"
#include "core/backends/all_backends.h"
#include "core/base/digest.h"
#include "core/base/version.h"
#include "core/passes/pipeline.h"

namespace slipway {

std::string FingerprintText() {
  return absl::StrCat("slipway ", kVersion, "\npasses-", kPassesRevision, "\n",
                      AllBackendFingerprints());
}

std::string WorkerFingerprint() { return Digest::Of(FingerprintText()).hex(); }

}  // namespace slipway
