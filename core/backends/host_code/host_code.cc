#include "core/backends/host_code/host_code.h"

#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/artifact.h"
#include "core/artifact/library_name.h"
#include "core/backends/program/constant_blobs.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/codegen/generator.h"
#include "core/codegen/linker.h"
#include "core/codegen/lower/register_all.h"
#include "core/graph/memory_plan.h"
#include "core/operators/fused.h"
#include "core/target/target.h"

namespace slipway {
namespace {

// Whether the device has a kernel for it.
bool HasKernelOn(int64_t device, const Node& node) {
  return node.op == kFusedOperator && DeviceNumberOf(node) == device && !IsDeviceCopy(node);
}

// The table of a program: every kernel once, in the order of first use.
struct KernelTable {
  std::vector<LinkedKernel> kernels;
  std::vector<KernelScratch> scratch;  // Of each, as HostCode has it.
  absl::flat_hash_map<const Graph*, uint32_t> kernel_of;
};

KernelTable MakeTable(const BackendRequest& request, const std::vector<CompiledKernel>& compiled) {
  KernelTable table;
  // By symbol and number of arguments: some callable kernels take any number.
  std::map<std::pair<std::string, int>, uint32_t> index_of;
  size_t next = 0;
  ForEachFunction(request.graph, request.memory, [&](const Graph& graph, const MemoryPlan&) {
    for (const Node& node : graph.nodes) {
      LinkedKernel kernel;
      KernelScratch scratch;  // Callable kernels ask for what they find that they need.
      if (HasKernelOn(0, node)) {
        scratch = compiled[next].scratch;
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
        table.scratch.push_back(scratch);
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

// How kernels are cut, a line each, in the order of first use.
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

std::vector<KernelCandidates> CandidatesOf(const std::vector<KernelRequest>& requests,
                                           const std::vector<CompiledKernel>& compiled) {
  std::vector<KernelCandidates> kernels;
  absl::flat_hash_map<std::string, size_t> index_of;
  absl::flat_hash_set<std::pair<size_t, std::string>> seen_steps;
  for (size_t i = 0; i < compiled.size(); ++i) {
    const auto [entry, is_new] = index_of.try_emplace(compiled[i].name, kernels.size());
    if (is_new) {
      kernels.push_back(
          {compiled[i].name, compiled[i].schedule, compiled[i].candidates, /*steps=*/{}});
    }
    if (seen_steps.emplace(entry->second, requests[i].name).second) {
      kernels[entry->second].steps.push_back(requests[i].name);
    }
  }
  return kernels;
}

}  // namespace

void Stages::End(absl::string_view name) {
  const absl::Duration now = clock_.Monotonic();
  stages_.push_back({std::string(name), now - last_});
  last_ = now;
}

absl::Status CheckIsAddressable(const BackendRequest& request) {
  int64_t constants = 0;
  for (const Tensor& constant : ConstantsOf(request)) constants += constant.byte_size();
  const int64_t arena = WholeArenaBytes(request.memory);
  const DeviceTarget& host = request.target.host();
  const int64_t addressable = AddressableBytes(host);
  if (constants <= addressable && arena <= addressable - constants) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the program takes ", constants, " bytes of constants and ", arena,
      " bytes of memory for values, together more than the ", addressable, " that \"",
      host.ToString(), "\" addresses; compile it for fewer or smaller inputs, or another target"));
}

absl::Status AddLowerings(const BackendEnvironment& environment, Lowerings& lowerings) {
  SLIPWAY_RETURN_IF_ERROR(RegisterAllLowerings(lowerings));
  if (environment.own_lowerings == nullptr) return absl::OkStatus();
  for (const std::string& op : environment.own_lowerings->Names()) {
    SLIPWAY_RETURN_IF_ERROR(lowerings.Add(op, *environment.own_lowerings->Find(op)));
  }
  return absl::OkStatus();
}

KernelCompiler CompilerFor(const BackendEnvironment& environment, const Lowerings& lowerings) {
  return KernelCompiler(*environment.registry, lowerings, *environment.clock,
                        environment.kernel_cache,
                        {.max_processes = environment.max_processes,
                         .deadline = environment.kernel_deadline,
                         .memory_limit_bytes = environment.kernel_memory_bytes,
                         .progress = environment.kernel_progress});
}

std::vector<KernelRequest> RequestsFor(const BackendRequest& request, int64_t device) {
  std::vector<KernelRequest> requests;
  ForEachFunction(request.graph, request.memory, [&](const Graph& graph, const MemoryPlan&) {
    for (const Node& node : graph.nodes) {
      if (!HasKernelOn(device, node)) continue;
      requests.push_back({DisplayName(graph, node), ComputedBy(node), ProductsOfNode(node)});
    }
  });
  return requests;
}

absl::StatusOr<HostCode> LinkHostCode(const BackendRequest& request,
                                      const std::vector<CompiledKernel>& compiled) {
  KernelTable table = MakeTable(request, compiled);
  HostCode code;
  SLIPWAY_ASSIGN_OR_RETURN_WITH(code.elf, Link(request, table.kernels), "link");
  code.kernel_count = static_cast<uint32_t>(table.kernels.size());
  code.kernel_of = std::move(table.kernel_of);
  code.kernel_scratch = std::move(table.scratch);
  return code;
}

absl::StatusOr<BackendResult> WriteProgram(const BackendEnvironment& environment,
                                           const BackendRequest& request, ProgramParts parts,
                                           Stages& stages) {
  SLIPWAY_ASSIGN_OR_RETURN(ConstantBlobs constants,
                           PlaceConstants(ConstantsOf(request), environment.keep_blob));
  ProgramCode code{Digest::Of(parts.host.elf), parts.host.kernel_count,
                   std::move(parts.host.kernel_of), std::move(parts.host.kernel_scratch)};
  std::vector<std::pair<Digest, std::string*>> own = {{code.blob, &parts.host.elf}};
  if (parts.device.has_value()) {
    code.accelerator = std::move(parts.device->code);
    own.emplace_back(code.accelerator->blob, &parts.device->text);
  }
  SLIPWAY_ASSIGN_OR_RETURN(
      BuiltManifest built,
      BuildManifest(request, *environment.registry, code, constants.constants,
                    {{"slipway", kVersion}, {"codegen", std::string(kGeneratorVersions)}}));
  int64_t code_bytes = 0;
  for (const auto& [digest, bytes] : own) code_bytes += static_cast<int64_t>(bytes->size());
  own.emplace_back(Digest::Of(built.notes), &built.notes);
  absl::flat_hash_map<Digest, Blob> blobs = std::move(constants.blobs);
  for (const auto& [digest, bytes] : own) {
    SLIPWAY_ASSIGN_OR_RETURN(blobs[digest],
                             environment.keep_blob(digest, Blob::Own(std::move(*bytes))));
  }
  SLIPWAY_ASSIGN_OR_RETURN(Artifact artifact,
                           Artifact::Create(std::move(built.manifest),
                                            [&](const Digest& digest) -> absl::StatusOr<Blob> {
                                              return blobs.at(digest);
                                            }));
  stages.End("write");
  return BackendResult{.artifact = std::move(artifact),
                       .stages = stages.Take(),
                       .kernels_compiled = parts.counters.compiled,
                       .kernels_cached = parts.counters.cached,
                       .code_bytes = code_bytes,
                       .constant_bytes = constants.total_bytes,
                       .kernels_recorded = parts.counters.recorded,
                       .schedules = SchedulesOf(parts.requests, parts.compiled),
                       .candidates = CandidatesOf(parts.requests, parts.compiled)};
}

}  // namespace slipway
