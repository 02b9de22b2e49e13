#include "core/compiler/fingerprint.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/backends/all_backends.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/compiler/compiler_source_digest.h"
#include "core/compiler/own_operator.h"

namespace slipway {

absl::StatusOr<std::map<std::string, std::string>> FingerprintTexts(
    absl::Span<const OwnOperator> own_operators) {
  std::vector<std::string> own_lines;
  for (const OwnOperator& own : own_operators) {
    own_lines.push_back(
        absl::StrCat("operator ", own.schema.name, " ", own.lowering.revision, "\n"));
  }
  std::sort(own_lines.begin(), own_lines.end());
  SLIPWAY_ASSIGN_OR_RETURN(auto texts, BackendFingerprints());
  for (auto& [family, text] : texts) {
    text = absl::StrCat("slipway ", kVersion, "\ncompiler ", CompilerSourceDigest(), "\n", text,
                        absl::StrJoin(own_lines, ""));
  }
  return texts;
}

absl::StatusOr<std::vector<CompilerTarget>> CompilerTargets(
    absl::Span<const OwnOperator> own_operators) {
  SLIPWAY_ASSIGN_OR_RETURN(const auto texts, FingerprintTexts(own_operators));
  std::vector<CompilerTarget> targets;
  for (const auto& [family, text] : texts) targets.push_back({family, Digest::Of(text).hex()});
  return targets;
}

}  // namespace slipway
