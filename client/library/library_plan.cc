#include "client/library/library_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/limits.h"
#include "core/artifact/program_notes.h"
#include "core/base/check.h"
#include "core/base/round_up.h"
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

absl::Status CheckStep(const v1::Step& step, int index) {
  const std::string what = absl::StrCat("step ", index, " ", Quoted(step.name()));
  switch (step.kind_case()) {
    case v1::Step::kKernel:
    case v1::Step::kCopy:
      return absl::OkStatus();
    case v1::Step::kBranch:
      return Lacking(what, "is a branch");
    case v1::Step::kLoop:
      return Lacking(what, "is a loop");
    case v1::Step::kBindSymbols:
      return Lacking(what, "finds sizes out while running");
    default:
      return Lacking(what, "is of an unknown kind");
  }
}

// Whether inputs and outputs are all that lies in memory of callers.
bool IsBound(const v1::Manifest& manifest, const v1::Function& entry) {
  std::set<uint32_t> bound;
  for (const auto* bindings : {&entry.inputs(), &entry.outputs()}) {
    for (const v1::Binding& binding : *bindings) {
      bound.insert(manifest.values(static_cast<int>(binding.value())).buffer());
    }
  }
  for (const v1::Value& value : manifest.values()) {
    if (manifest.buffers(static_cast<int>(value.buffer())).class_() == v1::Buffer::CLASS_EXTERNAL &&
        bound.count(value.buffer()) == 0) {
      return false;
    }
  }
  return true;
}

bool IsModule(const CheckedManifest& checked) {
  return checked.target().host().arch == Arch::kWasm32;
}

// That all sizes are known, all code is one object, and steps follow each other.
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
  for (int i = 0; i < checked.entry().steps_size(); ++i) {
    SLIPWAY_RETURN_IF_ERROR(CheckStep(checked.entry().steps(i), i));
  }
  if (manifest.functions_size() != 1) return Lacking("the program", "has several functions");
  if (manifest.symbols_size() > 0) {
    return Lacking(Quoted(manifest.symbols(0).name()), "is a size found out while running");
  }
  for (const v1::Buffer& buffer : manifest.buffers()) {
    if (buffer.class_() == v1::Buffer::CLASS_DYNAMIC) {
      return Lacking("a buffer", "is placed while running");
    }
  }
  const v1::Code::Kind kind = IsModule(checked) ? v1::Code::KIND_ELF : v1::Code::KIND_ELF_OBJECT;
  if (manifest.code_size() != 1 || manifest.code(0).kind() != kind) {
    return absl::UnimplementedError(
        "the compiler makes no code for exports; it is older than this command");
  }
  if (!IsBound(manifest, checked.entry())) {
    return absl::InvalidArgumentError("a value lies in memory that is no input and no output");
  }
  return absl::OkStatus();
}

class Planner {
 public:
  explicit Planner(const Artifact& artifact)
      : artifact_(artifact), manifest_(artifact.manifest().proto()) {}

  LibraryPlan Run();

 private:
  const Blob& BlobOf(const v1::Digest& proto) const {
    const absl::StatusOr<Digest> digest = FromProto(proto);
    SLIPWAY_CHECK(digest.ok(), "the manifest was not checked");
    return artifact_.blob(*digest);
  }
  // Where a constant begins in the weights, which get its blob.
  int64_t PlaceConstant(const v1::Constant& constant);
  std::vector<LibraryPort> Ports(const google::protobuf::RepeatedPtrField<v1::Binding>& bindings,
                                 LibraryValue::Place place);
  void AddValues();
  void AddSteps();

  const Artifact& artifact_;
  const v1::Manifest& manifest_;
  std::map<std::string, int64_t> offset_of_;  // By the digest of a blob.
  std::map<uint32_t, std::pair<LibraryValue::Place, uint32_t>> external_;  // By buffer.
  LibraryPlan plan_;
};

int64_t Planner::PlaceConstant(const v1::Constant& constant) {
  const auto [entry, is_new] =
      offset_of_.try_emplace(constant.blob().SerializeAsString(), plan_.weights_bytes);
  if (is_new) {
    plan_.weights.push_back(BlobOf(constant.blob()));
    plan_.weights_bytes =
        RoundUp(plan_.weights_bytes + constant.blob().size_bytes(), kBufferAlignment);
  }
  return entry->second + constant.offset();
}

std::vector<LibraryPort> Planner::Ports(
    const google::protobuf::RepeatedPtrField<v1::Binding>& bindings, LibraryValue::Place place) {
  std::vector<LibraryPort> ports;
  for (const v1::Binding& binding : bindings) {
    const uint32_t buffer = manifest_.values(static_cast<int>(binding.value())).buffer();
    external_[buffer] = {place, static_cast<uint32_t>(ports.size())};
    ports.push_back({binding.name(), artifact_.manifest().TypeOf(binding.value())});
  }
  return ports;
}

void Planner::AddValues() {
  for (int i = 0; i < manifest_.values_size(); ++i) {
    const v1::Value& from = manifest_.values(i);
    const v1::Buffer& buffer = manifest_.buffers(static_cast<int>(from.buffer()));
    LibraryValue value;
    value.offset = from.offset();
    value.type = artifact_.manifest().TypeOf(static_cast<uint32_t>(i));
    if (buffer.class_() == v1::Buffer::CLASS_STATIC) {
      value.place = LibraryValue::Place::kArena;
      value.offset += buffer.arena_offset();
    } else if (buffer.class_() == v1::Buffer::CLASS_CONSTANT) {
      value.place = LibraryValue::Place::kWeights;
      value.offset += PlaceConstant(manifest_.constants(static_cast<int>(buffer.constant())));
    } else {
      std::tie(value.place, value.index) = external_.at(from.buffer());
    }
    plan_.values.push_back(std::move(value));
  }
}

void Planner::AddSteps() {
  const std::vector<KernelScratch> scratch = KernelScratchOf(artifact_);
  int64_t task_bytes = 0;
  for (const v1::Step& from : artifact_.manifest().entry().steps()) {
    LibraryStep step;
    step.name = from.name();
    if (from.has_copy()) {
      step.arguments = {from.copy().from(), from.copy().to()};
    } else {
      step.kernel = from.kernel().kernel();
      step.arguments.assign(from.kernel().inputs().begin(), from.kernel().inputs().end());
      step.arguments.insert(step.arguments.end(), from.kernel().outputs().begin(),
                            from.kernel().outputs().end());
      const KernelScratch bytes =
          scratch.empty() ? KernelScratch() : scratch[from.kernel().kernel()];
      if (bytes.call < 0) plan_.unbounded.push_back(static_cast<uint32_t>(plan_.steps.size()));
      plan_.scratch_bytes = std::max(plan_.scratch_bytes, bytes.call);
      task_bytes = std::max(task_bytes, bytes.task);
    }
    plan_.steps.push_back(std::move(step));
  }
  if (TellsTaskScratch(artifact_)) plan_.task_scratch_bytes = task_bytes;
}

LibraryPlan Planner::Run() {
  plan_.target = manifest_.target();
  plan_.is_module = IsModule(artifact_.manifest());
  plan_.object = BlobOf(manifest_.code(0).blob());
  plan_.kernel_count = manifest_.code(0).kernel_count();
  plan_.arena_bytes = artifact_.manifest().spaces().front().arena_bytes;
  const v1::Function& entry = artifact_.manifest().entry();
  plan_.outputs = Ports(entry.outputs(), LibraryValue::Place::kOutput);
  plan_.inputs = Ports(entry.inputs(), LibraryValue::Place::kInput);
  AddValues();
  AddSteps();
  return std::move(plan_);
}

}  // namespace

absl::StatusOr<LibraryPlan> PlanLibrary(const Artifact& artifact) {
  SLIPWAY_RETURN_IF_ERROR(CheckForm(artifact.manifest()));
  return Planner(artifact).Run();
}

}  // namespace slipway
