#include "core/backends/cpu/cpu_backend.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/artifact/artifact.h"
#include "core/backends/cpu/cpu_pipeline.h"
#include "core/backends/host_code/host_code.h"
#include "core/backends/program/constant_blobs.h"
#include "core/backends/program/program_manifest.h"
#include "core/base/blob.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/codegen/generator.h"
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
  BackendPipeline PipelineFor(const Target& target, DataType precision) const override {
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
  Stages stages(*environment_.clock);
  KernelCompiler compiler = CompilerFor(environment_, lowerings_);
  const std::vector<KernelRequest> requests = RequestsFor(request, 0);
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<CompiledKernel> compiled,
                           compiler.Compile(requests, request.target.host(), request.schedules));
  stages.End("compile kernels");

  SLIPWAY_ASSIGN_OR_RETURN(HostCode host, LinkHostCode(request, compiled));
  stages.End("link");

  SLIPWAY_ASSIGN_OR_RETURN(const ConstantBlobs constants,
                           PlaceConstants(ConstantsOf(request), environment_.keep_blob));
  ProgramCode code{Digest::Of(host.elf), host.kernel_count, std::move(host.kernel_of),
                   std::move(host.kernel_scratch_bytes)};
  SLIPWAY_ASSIGN_OR_RETURN(
      BuiltManifest built,
      BuildManifest(request, *environment_.registry, code, constants.constants,
                    {{"slipway", kVersion}, {"codegen", std::string(kGeneratorVersions)}}));
  const int64_t code_bytes = static_cast<int64_t>(host.elf.size());
  SLIPWAY_ASSIGN_OR_RETURN(const Blob code_blob,
                           environment_.keep_blob(code.blob, Blob::Own(std::move(host.elf))));
  const Digest notes = Digest::Of(built.notes);
  SLIPWAY_ASSIGN_OR_RETURN(const Blob notes_blob,
                           environment_.keep_blob(notes, Blob::Own(std::move(built.notes))));
  SLIPWAY_ASSIGN_OR_RETURN(Artifact artifact,
                           Artifact::Create(std::move(built.manifest),
                                            [&](const Digest& digest) -> absl::StatusOr<Blob> {
                                              if (digest == code.blob) return code_blob;
                                              if (digest == notes) return notes_blob;
                                              return constants.blobs.at(digest);
                                            }));
  stages.End("write");
  return BackendResult{.artifact = std::move(artifact),
                       .stages = stages.Take(),
                       .kernels_compiled = compiler.counters().compiled,
                       .kernels_cached = compiler.counters().cached,
                       .code_bytes = code_bytes,
                       .constant_bytes = constants.total_bytes,
                       .kernels_recorded = compiler.counters().recorded,
                       .schedules = SchedulesOf(requests, compiled)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<TargetBackend>> CreateCpuBackend(
    const BackendEnvironment& environment) {
  return CpuBackend::Create(environment);
}

}  // namespace slipway
