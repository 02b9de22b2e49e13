#include "core/artifact/program_notes.h"

#include <algorithm>

#include "core/base/blob.h"
#include "core/base/check.h"
#include "core/base/digest.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

// Of a step some 20 bytes are told.
constexpr int64_t kMaxNotesBytes = 64 << 20;

// The constant that may hold notes; null where none does.
const v1::Constant* FindNotes(const v1::Manifest& manifest) {
  const int last = manifest.constants_size() - 1;
  if (last < 0 || manifest.constants(last).size_bytes() > kMaxNotesBytes) return nullptr;
  for (const v1::Buffer& buffer : manifest.buffers()) {
    if (buffer.class_() != v1::Buffer::CLASS_CONSTANT) continue;
    if (buffer.constant() == static_cast<uint32_t>(last)) return nullptr;
  }
  return &manifest.constants(last);
}

std::optional<StepCost> ReadCost(const v1::ProgramNotes::StepCost& proto) {
  if (!proto.has_flops() || !proto.has_bytes() || !proto.has_constant_bytes()) return std::nullopt;
  const StepCost cost{proto.flops(), proto.bytes(), proto.constant_bytes(), proto.product_type(),
                      proto.product_precision()};
  if (cost.flops < 0 || cost.constant_bytes < 0 || cost.bytes < cost.constant_bytes) {
    return std::nullopt;
  }
  return cost;
}

int KernelsOf(const Artifact& artifact) {
  const v1::Manifest& manifest = artifact.manifest().proto();
  return manifest.code_size() == 0 ? 0 : static_cast<int>(manifest.code(0).kernel_count());
}

}  // namespace

v1::ProgramNotes NotesOf(const Artifact& artifact) {
  v1::ProgramNotes notes;
  const v1::Constant* constant = FindNotes(artifact.manifest().proto());
  if (constant == nullptr) return notes;
  const absl::StatusOr<Digest> digest = FromProto(constant->blob());
  SLIPWAY_CHECK(digest.ok(), "the manifest was not checked");
  const Blob bytes = artifact.blob(*digest).Part(constant->offset(), constant->size_bytes());
  if (!notes.ParseFromArray(bytes.bytes().data(), static_cast<int>(bytes.size_bytes()))) {
    notes.Clear();
  }
  return notes;
}

std::vector<std::optional<StepCost>> CostsOf(const Artifact& artifact) {
  const v1::Manifest& manifest = artifact.manifest().proto();
  const v1::ProgramNotes notes = NotesOf(artifact);
  int steps = 0;
  for (const v1::Function& function : manifest.functions()) steps += function.steps_size();
  if (notes.steps_size() != steps) return {};
  std::vector<std::optional<StepCost>> costs;
  for (const v1::ProgramNotes::StepCost& step : notes.steps()) costs.push_back(ReadCost(step));
  return costs;
}

std::vector<KernelScratch> KernelScratchOf(const Artifact& artifact) {
  const v1::ProgramNotes notes = NotesOf(artifact);
  const int kernels = KernelsOf(artifact);
  if (kernels == 0 || notes.kernel_scratch_bytes_size() != kernels) return {};
  const bool tells_tasks = notes.kernel_task_scratch_bytes_size() == kernels;
  std::vector<KernelScratch> scratch(static_cast<size_t>(kernels));
  for (int i = 0; i < kernels; ++i) {
    KernelScratch& of_one = scratch[static_cast<size_t>(i)];
    of_one.call = std::max<int64_t>(notes.kernel_scratch_bytes(i), -1);
    if (tells_tasks) of_one.task = std::max<int64_t>(notes.kernel_task_scratch_bytes(i), -1);
  }
  return scratch;
}

bool TellsTaskScratch(const Artifact& artifact) {
  const v1::ProgramNotes notes = NotesOf(artifact);
  return notes.kernel_scratch_bytes_size() == KernelsOf(artifact) &&
         notes.kernel_task_scratch_bytes_size() == KernelsOf(artifact);
}

std::string AddNotes(const v1::ProgramNotes& notes, v1::Manifest& manifest) {
  std::string bytes = notes.SerializeAsString();
  v1::Constant& constant = *manifest.add_constants();
  *constant.mutable_blob() = ToProto(Digest::Of(bytes));
  constant.set_size_bytes(static_cast<int64_t>(bytes.size()));
  return bytes;
}

}  // namespace slipway
