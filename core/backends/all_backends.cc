#include "core/backends/all_backends.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/backends/cpu/cpu_backend.h"
#include "core/backends/cpu/cpu_fingerprint.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

using CreateBackend = absl::StatusOr<std::unique_ptr<TargetBackend>> (*)(const BackendEnvironment&);

// A backend is a folder here and a line each in these two lists.
constexpr CreateBackend kBackends[] = {CreateCpuBackend};
constexpr absl::StatusOr<std::string> (*kFingerprints[])() = {CpuBackendFingerprint};

}  // namespace

absl::StatusOr<std::unique_ptr<TargetBackend>> BackendFor(const Target& target,
                                                          const BackendEnvironment& environment) {
  std::vector<std::string> reasons;
  for (const CreateBackend create : kBackends) {
    SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<TargetBackend> backend, create(environment));
    const absl::Status supported = backend->CheckTarget(target);
    if (supported.ok()) return backend;
    reasons.emplace_back(supported.message());
  }
  return absl::UnimplementedError(absl::StrCat("no backend compiles for \"", target.ToString(),
                                               "\": ", absl::StrJoin(reasons, "; ")));
}

absl::StatusOr<std::string> AllBackendFingerprints() {
  std::string lines;
  for (const auto fingerprint_of : kFingerprints) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::string fingerprint, fingerprint_of());
    absl::StrAppend(&lines, fingerprint, "\n");
  }
  return lines;
}

}  // namespace slipway
