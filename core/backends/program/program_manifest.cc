#include "core/backends/program/program_manifest.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/format_version.h"
#include "core/artifact/limits.h"
#include "core/artifact/program_notes.h"
#include "core/backends/program/program_function.h"
#include "core/base/status_macros.h"
#include "core/base/utf8.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/operators/fused.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

// Header and tables that all functions share.
class ManifestBuilder {
 public:
  ManifestBuilder(const BackendRequest& request, const OperatorRegistry& registry,
                  const ProgramCode& code)
      : request_(request), registry_(registry), code_(code) {}

  absl::StatusOr<BuiltManifest> Run(const std::vector<PlacedConstant>& constants,
                                    std::vector<ToolUsed> tools);

 private:
  void AddHeader(std::vector<ToolUsed> tools);
  void AddConstants(const std::vector<PlacedConstant>& constants);

  const BackendRequest& request_;
  const OperatorRegistry& registry_;
  const ProgramCode& code_;
  v1::Manifest manifest_;
};

void ManifestBuilder::AddHeader(std::vector<ToolUsed> tools) {
  manifest_.set_min_reader_abi(SLIPWAY_ABI_VERSION);
  manifest_.set_target(request_.target.ToString());
  manifest_.set_name(Shortened(request_.graph.name, ReaderLimits().name_bytes));
  manifest_.set_compile_key(request_.compile_key);
  for (const DeviceTarget& device : request_.target.devices) {
    manifest_.add_devices()->set_target(device.ToString());
  }
  v1::Code& code = *manifest_.add_code();
  code.set_kind(request_.library_name.empty() ? v1::Code::KIND_ELF : v1::Code::KIND_ELF_OBJECT);
  *code.mutable_blob() = ToProto(code_.blob);
  code.set_kernel_count(code_.kernel_count);
  if (code_.accelerator.has_value()) {
    const AcceleratorCode& accelerator = *code_.accelerator;
    v1::Code& more = *manifest_.add_code();
    more.set_kind(accelerator.kind);
    *more.mutable_blob() = ToProto(accelerator.blob);
    more.set_device(1);
    more.set_kernel_count(static_cast<uint32_t>(accelerator.entries.size()));
    for (const std::string& entry : accelerator.entries) more.add_entries(entry);
  }
  std::sort(tools.begin(), tools.end(),
            [](const ToolUsed& a, const ToolUsed& b) { return a.name < b.name; });
  for (const ToolUsed& tool : tools) {
    v1::ToolVersion& proto = *manifest_.add_tools();
    proto.set_name(tool.name);
    proto.set_version(tool.version);
  }
}

void ManifestBuilder::AddConstants(const std::vector<PlacedConstant>& constants) {
  for (const PlacedConstant& constant : constants) {
    v1::Constant& proto = *manifest_.add_constants();
    *proto.mutable_blob() = ToProto(constant.blob);
    proto.set_offset(constant.offset);
    proto.set_size_bytes(constant.size_bytes);
  }
}

absl::StatusOr<BuiltManifest> ManifestBuilder::Run(const std::vector<PlacedConstant>& constants,
                                                   std::vector<ToolUsed> tools) {
  AddHeader(std::move(tools));
  AddConstants(constants);
  v1::ProgramNotes notes;
  FunctionContext context{registry_, code_, manifest_, notes};
  SLIPWAY_ASSIGN_OR_RETURN(const uint32_t entry,
                           AddFunction(request_.graph, request_.memory, "main", 0, context));
  manifest_.set_entry(entry);
  manifest_.set_format_version(LowestFormatVersion(manifest_));
  for (const KernelScratch& scratch : code_.kernel_scratch) {
    notes.add_kernel_scratch_bytes(scratch.call);
    notes.add_kernel_task_scratch_bytes(scratch.task);
  }
  std::string bytes = AddNotes(notes, manifest_);
  return BuiltManifest{std::move(manifest_), std::move(bytes)};
}

}  // namespace

const Graph* ComputedBy(const Node& node) {
  return node.attributes.FindAs<std::shared_ptr<const Graph>>(absl::string_view(kFusedBody))->get();
}

void ForEachFunction(const Graph& graph, const MemoryPlan& plan,
                     const std::function<void(const Graph&, const MemoryPlan&)>& visit) {
  for (const PlannedBody& body : plan.bodies) ForEachFunction(body.graph, body.plan, visit);
  visit(graph, plan);
}

std::vector<Tensor> ConstantsOf(const BackendRequest& request) {
  std::vector<Tensor> constants;
  ForEachFunction(request.graph, request.memory, [&](const Graph& graph, const MemoryPlan& plan) {
    for (const PlannedBuffer& buffer : plan.buffers) {
      if (buffer.kind != PlannedBuffer::Kind::kConstant) continue;
      constants.push_back(*graph.values[buffer.index].constant);
    }
  });
  return constants;
}

absl::StatusOr<BuiltManifest> BuildManifest(const BackendRequest& request,
                                            const OperatorRegistry& registry,
                                            const ProgramCode& code,
                                            const std::vector<PlacedConstant>& constants,
                                            std::vector<ToolUsed> tools) {
  return ManifestBuilder(request, registry, code).Run(constants, std::move(tools));
}

}  // namespace slipway
