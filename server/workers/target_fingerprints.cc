#include "server/workers/target_fingerprints.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/status_macros.h"

namespace slipway::server {
namespace {

constexpr size_t kMaxFamilies = 64;
constexpr size_t kMaxFamilyBytes = 128;
constexpr absl::string_view kFirstFamilies[] = {"arm-64-linux", "x86-64-linux"};

bool IsFamily(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxFamilyBytes && absl::c_all_of(text, [](char c) {
    return absl::ascii_isdigit(c) || absl::ascii_islower(c) || c == '-' || c == ',';
  });
}

bool IsFingerprint(absl::string_view text) {
  return text.size() == 64 && absl::c_all_of(text, [](char c) {
           return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
         });
}

absl::Status Add(absl::string_view family, absl::string_view fingerprint,
                 TargetFingerprints& targets) {
  const std::string shown = absl::CHexEscape(family.substr(0, kMaxFamilyBytes));
  if (!IsFamily(family)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", shown, "' is no family of targets, as 'x86-64-linux' is one"));
  }
  if (!IsFingerprint(fingerprint)) {
    return absl::InvalidArgumentError(absl::StrCat("the fingerprint for '", shown,
                                                   "' is not 64 hexadecimal digits in lower case"));
  }
  if (targets.size() == kMaxFamilies) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are more than ", kMaxFamilies, " families of targets"));
  }
  if (!targets.emplace(family, fingerprint).second) {
    return absl::InvalidArgumentError(absl::StrCat("'", shown, "' comes twice"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TargetFingerprints> TargetFingerprintsOf(const v1::WorkerState& state) {
  TargetFingerprints targets;
  for (const v1::TargetSupport& target : state.targets()) {
    SLIPWAY_RETURN_IF_ERROR(Add(target.family(), target.fingerprint(), targets));
  }
  if (!targets.empty()) return targets;
  for (const absl::string_view family : kFirstFamilies) {
    SLIPWAY_RETURN_IF_ERROR(Add(family, state.fingerprint(), targets));
  }
  return targets;
}

absl::StatusOr<TargetFingerprints> ParseTargetFingerprints(absl::string_view lines) {
  TargetFingerprints targets;
  for (const absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> columns =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    SLIPWAY_RETURN_IF_ERROR(Add(columns.first, columns.second, targets));
  }
  if (targets.empty()) return absl::InvalidArgumentError("it names no targets");
  return targets;
}

std::string FormatTargetFingerprints(const TargetFingerprints& targets) {
  std::string lines;
  for (const auto& [family, fingerprint] : targets) {
    absl::StrAppend(&lines, family, " ", fingerprint, "\n");
  }
  return lines;
}

}  // namespace slipway::server
