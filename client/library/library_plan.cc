#include "client/library/library_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/library/library_steps.h"
#include "client/library/library_values.h"
#include "core/artifact/program_notes.h"
#include "core/artifact/program_steps.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "core/kernel_abi/kernel_scratch.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
}

absl::Status Lacking(const std::string& what, absl::string_view why) {
  return absl::UnimplementedError(absl::StrCat(what, " ", why, ", which exports do not have yet"));
}

bool IsModule(const CheckedManifest& checked) {
  return checked.target().host().arch == Arch::kWasm32;
}

// That all of them are known before the program runs, but for those of inputs. Names the step that makes the first that is not.
absl::Status CheckSizes(const v1::Manifest& manifest) {
  const auto is_known = [&manifest](uint32_t index) {
    const v1::Value& value = manifest.values(static_cast<int>(index));
    return manifest.buffers(static_cast<int>(value.buffer())).class_() !=
               v1::Buffer::CLASS_DYNAMIC &&
           std::none_of(value.shape().begin(), value.shape().end(),
                        [](const v1::Dimension& extent) { return extent.has_expression(); });
  };
  for (const v1::Function& function : manifest.functions()) {
    for (const v1::Step& step : function.steps()) {
      const std::string what = absl::StrCat("step ", Quoted(step.name()));
      if (step.has_bind_symbols()) return Lacking(what, "finds sizes out while running");
      for (const uint32_t value : ValuesWrittenBy(step)) {
        if (is_known(value)) continue;
        return Lacking(what, absl::StrCat("makes value ", value,
                                          ", whose size is known only when the program runs"));
      }
    }
  }
  if (manifest.symbols_size() == 0) return absl::OkStatus();
  return Lacking(Quoted(manifest.symbols(0).name()), "is a size found out while running");
}

// That all sizes are known, and all code is one object.
absl::Status CheckForm(const CheckedManifest& checked) {
  const v1::Manifest& manifest = checked.proto();
  if (manifest.devices_size() != 1 || checked.spaces().size() != 1) {
    return Lacking(absl::StrCat("target ", Quoted(manifest.target())), "has several devices");
  }
  for (const NamedType& input : checked.signature().inputs) {
    for (const PortExtent& extent : input.type.extents) {
      if (extent.is_known()) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          "input ", Quoted(input.name), " is ", absl::Utf8SafeCEscape(ToString(input.type)),
          ", but an export is for known sizes; fix what is open, for example \"--dimension ",
          absl::Utf8SafeCEscape(extent.text), "=1\""));
    }
  }
  if (manifest.more_entries_size() > 0) return Lacking("the program", "has several entries");
  SLIPWAY_RETURN_IF_ERROR(CheckSizes(manifest));
  const v1::Code::Kind kind = IsModule(checked) ? v1::Code::KIND_ELF : v1::Code::KIND_ELF_OBJECT;
  if (manifest.code_size() != 1 || manifest.code(0).kind() != kind) {
    return absl::UnimplementedError(
        "the compiler makes no code for exports; it is older than this command");
  }
  return absl::OkStatus();
}

// Gives them their places.
std::vector<LibraryPort> Ports(const CheckedManifest& manifest,
                               const google::protobuf::RepeatedPtrField<v1::Binding>& bindings,
                               LibraryValue::Place place, LibraryValues& values) {
  std::vector<LibraryPort> ports;
  for (const v1::Binding& binding : bindings) {
    LibraryPort port{binding.name(), manifest.TypeOf(binding.value())};
    values.Bind(binding.value(), {place, static_cast<uint32_t>(ports.size()), 0, port.type});
    ports.push_back(std::move(port));
  }
  return ports;
}

void AddScratch(const Artifact& artifact, LibraryPlan& plan) {
  const std::vector<KernelScratch> scratch = KernelScratchOf(artifact);
  int64_t task_bytes = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const LibraryStep& step = plan.steps[i];
    if (step.kind != LibraryStep::Kind::kKernel) continue;
    const KernelScratch bytes =
        scratch.empty() ? KernelScratch() : scratch[static_cast<size_t>(step.kernel)];
    if (bytes.call < 0) plan.unbounded.push_back(static_cast<uint32_t>(i));
    plan.scratch_bytes = std::max(plan.scratch_bytes, bytes.call);
    task_bytes = std::max(task_bytes, bytes.task);
  }
  if (TellsTaskScratch(artifact)) plan.task_scratch_bytes = task_bytes;
}

const Blob& CodeOf(const Artifact& artifact) {
  const absl::StatusOr<Digest> digest = FromProto(artifact.manifest().proto().code(0).blob());
  SLIPWAY_CHECK(digest.ok(), "the manifest was not checked");
  return artifact.blob(*digest);
}

}  // namespace

absl::StatusOr<LibraryPlan> PlanLibrary(const Artifact& artifact) {
  const CheckedManifest& manifest = artifact.manifest();
  SLIPWAY_RETURN_IF_ERROR(CheckForm(manifest));
  LibraryPlan plan;
  plan.target = manifest.proto().target();
  plan.is_module = IsModule(manifest);
  plan.object = CodeOf(artifact);
  plan.kernel_count = manifest.proto().code(0).kernel_count();
  LibraryValues values(artifact);
  plan.outputs = Ports(manifest, manifest.entry().outputs(), LibraryValue::Place::kOutput, values);
  plan.inputs = Ports(manifest, manifest.entry().inputs(), LibraryValue::Place::kInput, values);
  SLIPWAY_ASSIGN_OR_RETURN(plan.steps, ListSteps(manifest, values));
  plan.has_control = std::any_of(plan.steps.begin(), plan.steps.end(),
                                 [](const LibraryStep& step) { return step.decides(); });
  SLIPWAY_RETURN_IF_ERROR(values.AddTo(plan));
  AddScratch(artifact, plan);
  return plan;
}

}  // namespace slipway
