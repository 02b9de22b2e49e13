#include "core/runtime/resident_program.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/limits.h"
#include "core/base/status_macros.h"
#include "core/tensor/tensor.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

// The same bytes at an address kernels can use: mapped ones are, those that came in a message may
// not be.
absl::StatusOr<Blob> Aligned(const Blob& blob) {
  if (reinterpret_cast<uintptr_t>(blob.bytes().data()) % kBufferAlignment == 0) return blob;
  SLIPWAY_ASSIGN_OR_RETURN(
      Tensor copy,
      Tensor::FromBytes(TensorType{DataType::kUint8, {blob.size_bytes()}}, blob.bytes()));
  auto owner = std::make_shared<const Tensor>(std::move(copy));
  const absl::string_view bytes = owner->bytes();
  return Blob(bytes, std::move(owner));
}

// Kernels do not write to constants.
DeviceMemory HostMemory(const Blob& blob) {
  return {0, reinterpret_cast<uint8_t*>(const_cast<char*>(blob.bytes().data())), blob.size_bytes()};
}

}  // namespace

absl::StatusOr<std::unique_ptr<ResidentProgram>> ResidentProgram::Load(
    const Artifact& artifact, std::vector<std::shared_ptr<ComputeDevice>> devices) {
  std::unique_ptr<ResidentProgram> program(new ResidentProgram(artifact.manifest()));
  program->devices_ = std::move(devices);
  for (const ProgramSpace& space : program->manifest_.spaces()) {
    const bool is_shared = space.device != 0 && space.IsTouchedBy(0);
    program->places_.push_back({program->devices_[space.device],
                                is_shared ? MemoryKind::kHostVisible : MemoryKind::kLocal});
  }
  auto is_synchronous = std::make_unique<bool[]>(program->devices_.size());
  for (size_t i = 0; i < program->devices_.size(); ++i) {
    is_synchronous[i] = program->devices_[i]->is_synchronous();
  }
  program->plan_ = PlanProgram(program->manifest_,
                               absl::MakeConstSpan(is_synchronous.get(), program->devices_.size()));
  SLIPWAY_RETURN_IF_ERROR(program->LoadCode(artifact));
  SLIPWAY_RETURN_IF_ERROR(program->LoadConstants(artifact));
  SLIPWAY_RETURN_IF_ERROR(program->TakeLibraries(artifact));
  return program;
}

ResidentProgram::~ResidentProgram() {
  for (const Owned& owned : uploaded_) owned.device->ReturnConstant(owned.memory);
}

absl::Status ResidentProgram::LoadCode(const Artifact& artifact) {
  const v1::Manifest& manifest = manifest_.proto();
  for (int i = 0; i < manifest.code_size(); ++i) {
    const v1::Code& code = manifest.code(i);
    SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(code.blob()));
    SLIPWAY_ASSIGN_OR_RETURN_WITH(std::unique_ptr<DeviceCode> loaded,
                                  devices_[code.device()]->LoadCode(code, manifest.min_reader_abi(),
                                                                    artifact.blob(digest).bytes()),
                                  absl::StrCat("code ", i));
    code_.push_back(std::move(loaded));
  }
  // That a step's arguments are as many as its kernel takes cannot be seen in the manifest alone.
  for (const v1::Function& function : manifest.functions()) {
    for (const v1::Step& step : function.steps()) {
      if (!step.has_kernel()) continue;
      const v1::Step::Kernel& call = step.kernel();
      SLIPWAY_RETURN_IF_ERROR_WITH(code_[call.code()]->CheckArguments(
                                       call.kernel(), call.inputs_size(), call.outputs_size()),
                                   absl::StrCat("step '", absl::Utf8SafeCEscape(step.name()), "'"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceMemory> ResidentProgram::Upload(const std::string& key, const Blob& blob,
                                                     uint32_t space) {
  ComputeDevice& device = *places_[space].device;
  SLIPWAY_ASSIGN_OR_RETURN(const DeviceMemory memory,
                           device.TakeConstant(key, HostMemory(blob), places_[space].kind));
  uploaded_.push_back({&device, memory});
  return memory;
}

absl::Status ResidentProgram::LoadConstants(const Artifact& artifact) {
  const v1::Manifest& manifest = manifest_.proto();
  constants_.resize(static_cast<size_t>(manifest.buffers_size()));
  absl::flat_hash_map<Digest, Blob> aligned;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, DeviceMemory> on_devices;
  for (size_t i = 0; i < constants_.size(); ++i) {
    const v1::Buffer& buffer = manifest.buffers(static_cast<int>(i));
    if (buffer.class_() != v1::Buffer::CLASS_CONSTANT) continue;
    const v1::Constant& constant = manifest.constants(static_cast<int>(buffer.constant()));
    SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(constant.blob()));
    auto found = aligned.find(digest);
    if (found == aligned.end()) {
      SLIPWAY_ASSIGN_OR_RETURN(Blob blob, Aligned(artifact.blob(digest)));
      found = aligned.emplace(digest, std::move(blob)).first;
    }
    const Blob part = found->second.Part(constant.offset(), constant.size_bytes());
    if (manifest_.spaces()[buffer.space()].device == 0 && devices_[0]->is_host()) {
      constants_[i] = HostMemory(part);
      blobs_.push_back(part);
      continue;
    }
    auto [memory, is_new] =
        on_devices.try_emplace({buffer.space(), buffer.constant()}, DeviceMemory());
    if (is_new) {
      const std::string key =
          absl::StrCat(digest.hex(), " ", constant.offset(), " ", constant.size_bytes());
      SLIPWAY_ASSIGN_OR_RETURN_WITH(memory->second, Upload(key, part, buffer.space()),
                                    absl::StrCat("constant ", buffer.constant()));
    }
    constants_[i] = memory->second;
  }
  return absl::OkStatus();
}

absl::Status ResidentProgram::TakeLibraries(const Artifact& artifact) {
  SLIPWAY_ASSIGN_OR_RETURN(chosen_steps_, ChooseLibraries(artifact, *this));
  for (size_t i = 0; i < chosen_steps_.size(); ++i) {
    const ChosenStep& made = chosen_steps_[i];
    if (made.way == nullptr) continue;
    std::vector<StepPlan>& steps = plan_.functions[made.step.function].steps;
    for (uint32_t s = made.step.first; s < made.step.end(); ++s) {
      steps[s].is_left_out = s + 1 < made.step.end();
      steps[s].is_plain_launch &= !steps[s].is_left_out;
    }
    steps[made.step.end() - 1].chosen = static_cast<int>(i);
  }
  return absl::OkStatus();
}

}  // namespace slipway
