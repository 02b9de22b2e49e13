#include "core/backends/all_backends.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/backends/cpu/cpu_backend.h"
#include "core/backends/cpu/cpu_fingerprint.h"
#include "core/backends/gpu/gpu_backend.h"
#include "core/backends/gpu/gpu_fingerprint.h"
#include "core/base/status_macros.h"

namespace slipway {
namespace {

struct Backend {
  absl::Span<const absl::string_view> families;  // FamilyOf the targets it compiles for.
  absl::StatusOr<std::unique_ptr<TargetBackend>> (*create)(const BackendEnvironment&);
  absl::StatusOr<std::string> (*fingerprint)();
};

// A backend is a folder here and a row of this list.
constexpr Backend kBackends[] = {
    {kCpuFamilies, CreateCpuBackend, CpuBackendFingerprint},
    {kGpuFamilies, CreateGpuBackend, GpuBackendFingerprint},
};

}  // namespace

absl::StatusOr<std::unique_ptr<TargetBackend>> BackendFor(const Target& target,
                                                          const BackendEnvironment& environment) {
  std::vector<std::string> reasons;
  for (const Backend& row : kBackends) {
    SLIPWAY_ASSIGN_OR_RETURN(std::unique_ptr<TargetBackend> backend, row.create(environment));
    const absl::Status supported = backend->CheckTarget(target);
    if (supported.ok()) return backend;
    reasons.emplace_back(supported.message());
  }
  return absl::UnimplementedError(absl::StrCat("no backend compiles for \"", target.ToString(),
                                               "\": ", absl::StrJoin(reasons, "; ")));
}

absl::StatusOr<std::map<std::string, std::string>> BackendFingerprints() {
  std::map<std::string, std::string> lines;
  for (const Backend& row : kBackends) {
    SLIPWAY_ASSIGN_OR_RETURN(const std::string fingerprint, row.fingerprint());
    for (const absl::string_view family : row.families) {
      absl::StrAppend(&lines[std::string(family)], fingerprint, "\n");
    }
  }
  return lines;
}

}  // namespace slipway
