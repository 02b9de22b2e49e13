// HostCode: what of a program runs on the host, compiled and linked. For all backends whose programs have a CPU as host.
#ifndef SLIPWAY_CORE_BACKENDS_HOST_CODE_HOST_CODE_H_
#define SLIPWAY_CORE_BACKENDS_HOST_CODE_HOST_CODE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/backends/backend_environment.h"
#include "core/backends/target_backend.h"
#include "core/codegen/kernel_compiler.h"
#include "core/codegen/lowering.h"
#include "core/graph/graph.h"

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

// How kernels are cut, a line each, in the order of first use: BackendResult::schedules.
std::vector<std::string> SchedulesOf(const std::vector<KernelRequest>& requests,
                                     const std::vector<CompiledKernel>& compiled);

struct HostCode {
  std::string elf;
  uint32_t kernel_count = 0;
  // As ProgramCode has them.
  absl::flat_hash_map<const Graph*, uint32_t> kernel_of;
  std::vector<int64_t> kernel_scratch_bytes;
};

// A program's code, or a library's if the request names one. `compiled` is that of RequestsFor(request, 0). Errors of
// LinkProgram and LinkLibrary.
absl::StatusOr<HostCode> LinkHostCode(const BackendRequest& request,
                                      const std::vector<CompiledKernel>& compiled);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_HOST_CODE_HOST_CODE_H_
