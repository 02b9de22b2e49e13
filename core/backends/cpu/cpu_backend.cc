#include "core/backends/cpu/cpu_backend.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/backends/cpu/cpu_pipeline.h"
#include "core/backends/host_code/host_code.h"
#include "core/base/status_macros.h"
#include "core/codegen/kernel_compiler.h"

namespace slipway {
namespace {

class CpuBackend final : public TargetBackend {
 public:
  static absl::StatusOr<std::unique_ptr<TargetBackend>> Create(
      const BackendEnvironment& environment) {
    auto backend = std::make_unique<CpuBackend>(environment);
    SLIPWAY_RETURN_IF_ERROR(AddLowerings(environment, backend->lowerings_));
    return backend;
  }
  explicit CpuBackend(const BackendEnvironment& environment) : environment_(environment) {}

  absl::Status CheckTarget(const Target& target) const override;
  BackendPipeline PipelineFor(const Target& target, Precision precision) const override {
    return CpuPipeline(
        target.host(),
        [this](const NodeView& view, absl::Span<const ValueType> outputs) {
          return CheckLowered(lowerings_, view, outputs).ok();
        },
        precision);
  }
  absl::StatusOr<BackendResult> Compile(const BackendRequest& request) override;

 private:
  const BackendEnvironment environment_;
  Lowerings lowerings_;
};

absl::Status CpuBackend::CheckTarget(const Target& target) const {
  if (absl::c_linear_search(kCpuFamilies, FamilyOf(target))) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("cpu: compiles for ", absl::StrJoin(kCpuFamilies, ", "), " only"));
}

absl::StatusOr<BackendResult> CpuBackend::Compile(const BackendRequest& request) {
  SLIPWAY_RETURN_IF_ERROR(CheckIsAddressable(request));
  Stages stages(*environment_.clock);
  KernelCompiler compiler = CompilerFor(environment_, lowerings_);
  std::vector<KernelRequest> requests = RequestsFor(request, 0);
  SLIPWAY_ASSIGN_OR_RETURN(std::vector<CompiledKernel> compiled,
                           compiler.Compile(requests, request.target.host(), request.schedules));
  stages.End("compile kernels");

  SLIPWAY_ASSIGN_OR_RETURN(HostCode host, LinkHostCode(request, compiled));
  stages.End("link");

  return WriteProgram(environment_, request,
                      {.host = std::move(host),
                       .requests = std::move(requests),
                       .compiled = std::move(compiled),
                       .counters = compiler.counters()},
                      stages);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TargetBackend>> CreateCpuBackend(
    const BackendEnvironment& environment) {
  return CpuBackend::Create(environment);
}

}  // namespace slipway
