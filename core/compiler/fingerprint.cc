#include "core/compiler/fingerprint.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/backends/all_backends.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/compiler/compiler_source_digest.h"
#include "core/compiler/own_operator.h"

namespace slipway {

absl::StatusOr<std::string> FingerprintText(absl::Span<const OwnOperator> own_operators) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string backends, AllBackendFingerprints());
  std::string text =
      absl::StrCat("slipway ", kVersion, "\ncompiler ", CompilerSourceDigest(), "\n", backends);
  std::vector<std::string> lines;
  for (const OwnOperator& own : own_operators) {
    lines.push_back(absl::StrCat("operator ", own.schema.name, " ", own.lowering.revision, "\n"));
  }
  std::sort(lines.begin(), lines.end());
  return absl::StrCat(text, absl::StrJoin(lines, ""));
}

absl::StatusOr<std::string> WorkerFingerprint(absl::Span<const OwnOperator> own_operators) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::string text, FingerprintText(own_operators));
  return Digest::Of(text).hex();
}

}  // namespace slipway
