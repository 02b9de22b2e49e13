// HostCode: what of a program runs on the host, compiled and linked; and the artifact of it. For all backends whose programs have a CPU as host.
#ifndef SLIPWAY_CORE_BACKENDS_HOST_CODE_HOST_CODE_H_
#define SLIPWAY_CORE_BACKENDS_HOST_CODE_HOST_CODE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/backends/backend_environment.h"
#include "core/backends/program/program_manifest.h"
#include "core/backends/target_backend.h"
#include "core/codegen/kernel_compiler.h"
#include "core/codegen/lowering.h"
#include "core/graph/graph.h"
#include "core/kernel_abi/kernel_scratch.h"

namespace slipway {

// Times the stages of one compilation.
class Stages {
 public:
  explicit Stages(const Clock& clock) : clock_(clock), last_(clock.Monotonic()) {}
  void End(absl::string_view name);
  std::vector<BackendStage> Take() { return std::move(stages_); }

 private:
  const Clock& clock_;
  absl::Duration last_;
  std::vector<BackendStage> stages_;
};

// The lowerings of core/codegen and the environment's own. ALREADY_EXISTS.
absl::Status AddLowerings(const BackendEnvironment& environment, Lowerings& lowerings);

KernelCompiler CompilerFor(const BackendEnvironment& environment, const Lowerings& lowerings);

// One a slipway.Fused that device number `device` computes, of all functions.
std::vector<KernelRequest> RequestsFor(const BackendRequest& request, int64_t device);

// RESOURCE_EXHAUSTED for a program whose constants and arena the host cannot address.
absl::Status CheckIsAddressable(const BackendRequest& request);

struct HostCode {
  std::string elf;
  uint32_t kernel_count = 0;
  // As ProgramCode has them.
  absl::flat_hash_map<const Graph*, uint32_t> kernel_of;
  std::vector<KernelScratch> kernel_scratch;
};

// A program's code, or a library's if the request names one. `compiled` is that of RequestsFor(request, 0). Errors of
// LinkProgram and LinkLibrary.
absl::StatusOr<HostCode> LinkHostCode(const BackendRequest& request,
                                      const std::vector<CompiledKernel>& compiled);

// What a device beside the host computes: its code, whose blob are the bytes of `text`.
struct DeviceText {
  std::string text;
  AcceleratorCode code;
};

// What has become of a request's kernels.
struct ProgramParts {
  HostCode host;
  std::optional<DeviceText> device = {};
  // Of all devices, the host first.
  std::vector<KernelRequest> requests;
  std::vector<CompiledKernel> compiled;
  KernelCounters counters;
};

// The artifact, with all its blobs kept, as the stage "write". Errors of PlaceConstants, BuildManifest, Artifact::Create and of
// keeping blobs.
absl::StatusOr<BackendResult> WriteProgram(const BackendEnvironment& environment,
                                           const BackendRequest& request, ProgramParts parts,
                                           Stages& stages);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_HOST_CODE_HOST_CODE_H_
