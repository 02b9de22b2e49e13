#include "core/backends/cpu/cpu_backend.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/artifact/artifact.h"
#include "core/artifact/library_name.h"
#include "core/backends/cpu/cpu_pipeline.h"
#include "core/backends/program/constant_blobs.h"
#include "core/backends/program/program_manifest.h"
#include "core/base/blob.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/codegen/generator.h"
#include "core/codegen/kernel_compiler.h"
#include "core/codegen/linker.h"
#include "core/codegen/lower/register_all.h"
#include "core/operators/fused.h"

namespace slipway {
namespace {

class CpuBackend final : public TargetBackend {
 public:
  static absl::StatusOr<std::unique_ptr<TargetBackend>> Create(
      const BackendEnvironment& environment) {
    auto backend = std::make_unique<CpuBackend>(environment);
    Lowerings& lowerings = backend->lowerings_;
    SLIPWAY_RETURN_IF_ERROR(RegisterAllLowerings(lowerings));
    if (environment.own_lowerings != nullptr) {
      for (const std::string& op : environment.own_lowerings->Names()) {
        SLIPWAY_RETURN_IF_ERROR(lowerings.Add(op, *environment.own_lowerings->Find(op)));
      }
    }
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

// Times the stages of one compilation.
class Stages {
 public:
  explicit Stages(const Clock& clock) : clock_(clock), last_(clock.Monotonic()) {}
  void End(absl::string_view name) {
    const absl::Duration now = clock_.Monotonic();
    stages_.push_back({std::string(name), now - last_});
    last_ = now;
  }
  std::vector<BackendStage> Take() { return std::move(stages_); }

 private:
  const Clock& clock_;
  absl::Duration last_;
  std::vector<BackendStage> stages_;
};

std::vector<KernelRequest> RequestsFor(const BackendRequest& request) {
  std::vector<KernelRequest> requests;
  ForEachFunction(request.graph, request.memory, [&](const Graph& graph, const MemoryPlan&) {
    for (const Node& node : graph.nodes) {
      if (node.op == kFusedOperator)
        requests.push_back({DisplayName(graph, node), ComputedBy(node)});
    }
  });
  return requests;
}

// A line a kernel, in the order of first use.
std::vector<std::string> SchedulesOf(const std::vector<KernelRequest>& requests,
                                     const std::vector<CompiledKernel>& compiled) {
  constexpr size_t kMaxCommentBytes = 160;
  std::vector<std::string> lines;
  absl::flat_hash_set<std::string> seen;
  for (size_t i = 0; i < compiled.size(); ++i) {
    if (!seen.insert(compiled[i].name).second) continue;
    std::string comment = absl::Utf8SafeCEscape(requests[i].name);
    if (comment.size() > kMaxCommentBytes) comment.resize(kMaxCommentBytes);
    lines.push_back(
        absl::StrCat(compiled[i].name, " ", compiled[i].schedule, "  # ", comment, "\n"));
  }
  return lines;
}

// The table of a program: every kernel once, in the order of first use.
struct KernelTable {
  std::vector<LinkedKernel> kernels;
  absl::flat_hash_map<const Graph*, uint32_t> kernel_of;  // As ProgramCode has it.
  std::vector<int64_t> scratch_bytes;                     // Of each.
};

KernelTable MakeTable(const BackendRequest& request, const std::vector<CompiledKernel>& compiled) {
  KernelTable table;
  // By symbol and number of arguments: some callable kernels take any number.
  std::map<std::pair<std::string, int>, uint32_t> index_of;
  size_t next = 0;
  ForEachFunction(request.graph, request.memory, [&](const Graph& graph, const MemoryPlan&) {
    for (const Node& node : graph.nodes) {
      LinkedKernel kernel;
      int64_t scratch_bytes = -1;  // Callable kernels ask for what they find that they need.
      if (node.op == kFusedOperator) {
        scratch_bytes = compiled[next].scratch_bytes;
        kernel.symbol = compiled[next].symbol;
        kernel.object = &compiled[next++].object;
      } else if (node.op == kCallOperator) {
        kernel.symbol = *node.attributes.FindAs<std::string>(absl::string_view(kCallSymbol));
      } else {
        continue;
      }
      kernel.argument_count = static_cast<int>(node.inputs.size() + node.outputs.size());
      const auto [entry, is_new] = index_of.try_emplace(
          {kernel.symbol, kernel.argument_count}, static_cast<uint32_t>(table.kernels.size()));
      if (is_new) {
        table.kernels.push_back(std::move(kernel));
        table.scratch_bytes.push_back(scratch_bytes);
      }
      table.kernel_of[ComputedBy(node)] = entry->second;
    }
  });
  return table;
}

absl::StatusOr<std::string> Link(const BackendRequest& request,
                                 const std::vector<LinkedKernel>& kernels) {
  const std::string& name = request.library_name;
  if (name.empty()) return LinkProgram(request.target.host(), kernels, {});
  return LinkLibrary(request.target.host(), kernels,
                     {LibraryKernelsSymbol(name), LibraryImportsSymbol(name)}, {});
}

absl::Status CpuBackend::CheckTarget(const Target& target) const {
  if (absl::c_linear_search(kCpuFamilies, FamilyOf(target))) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("cpu: compiles for ", absl::StrJoin(kCpuFamilies, ", "), " only"));
}

absl::StatusOr<BackendResult> CpuBackend::Compile(const BackendRequest& request) {
  Stages stages(*environment_.clock);
  KernelCompiler compiler(*environment_.registry, lowerings_, *environment_.clock,
                          environment_.kernel_cache,
                          {.max_processes = environment_.max_processes,
                           .deadline = environment_.kernel_deadline,
                           .memory_limit_bytes = environment_.kernel_memory_bytes,
                           .progress = environment_.kernel_progress});
  const std::vector<KernelRequest> requests = RequestsFor(request);
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<CompiledKernel> compiled,
                           compiler.Compile(requests, request.target.host(), request.schedules));
  stages.End("compile kernels");

  const KernelTable table = MakeTable(request, compiled);
  SLIPWAY_ASSIGN_OR_RETURN_WITH(std::string elf, Link(request, table.kernels), "link");
  stages.End("link");

  SLIPWAY_ASSIGN_OR_RETURN(const ConstantBlobs constants,
                           PlaceConstants(ConstantsOf(request), environment_.keep_blob));
  ProgramCode code{Digest::Of(elf), static_cast<uint32_t>(table.kernels.size()), table.kernel_of,
                   table.scratch_bytes};
  SLIPWAY_ASSIGN_OR_RETURN(
      BuiltManifest built,
      BuildManifest(request, *environment_.registry, code, constants.constants,
                    {{"slipway", kVersion}, {"codegen", std::string(kGeneratorVersions)}}));
  const int64_t code_bytes = static_cast<int64_t>(elf.size());
  SLIPWAY_ASSIGN_OR_RETURN(const Blob code_blob,
                           environment_.keep_blob(code.blob, Blob::Own(std::move(elf))));
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
