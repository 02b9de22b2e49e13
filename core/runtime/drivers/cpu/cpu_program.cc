#include "core/runtime/drivers/cpu/cpu_program.h"

#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/limits.h"
#include "core/base/status_macros.h"
#include "core/runtime/drivers/cpu/cpu_context.h"
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

}  // namespace

absl::StatusOr<std::unique_ptr<CpuProgram>> CpuProgram::Load(const Artifact& artifact) {
  std::unique_ptr<CpuProgram> program(new CpuProgram(artifact.manifest()));
  for (const v1::Step& step : program->manifest_.entry().steps()) {
    program->steps_.push_back({step.name(), {step.operators().begin(), step.operators().end()}});
  }
  SLIPWAY_RETURN_IF_ERROR(program->LoadCode(artifact));
  SLIPWAY_RETURN_IF_ERROR(program->LoadConstants(artifact));
  return program;
}

absl::Status CpuProgram::LoadCode(const Artifact& artifact) {
  for (int i = 0; i < manifest_.proto().code_size(); ++i) {
    const v1::Code& code = manifest_.proto().code(i);
    SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(code.blob()));
    SLIPWAY_ASSIGN_OR_RETURN_WITH(
        std::unique_ptr<CodeModule> module,
        CodeModule::Load(artifact.blob(digest).bytes(), code.kernel_count(),
                         manifest_.proto().min_reader_abi()),
        absl::StrCat("code ", i));
    code_.push_back(std::move(module));
  }
  // That a step's arguments are as many as its kernel takes cannot be seen in the manifest alone.
  for (const v1::Step& step : manifest_.entry().steps()) {
    if (!step.has_kernel()) continue;
    const v1::Step::Kernel& call = step.kernel();
    const int32_t takes = code_[call.code()]->kernel(call.kernel()).argument_count;
    const int gets = call.inputs_size() + call.outputs_size();
    if (takes != gets) {
      return absl::InvalidArgumentError(absl::StrCat("step '", step.name(), "' gives ", gets,
                                                     " arguments to a kernel that takes ", takes));
    }
  }
  return absl::OkStatus();
}

absl::Status CpuProgram::LoadConstants(const Artifact& artifact) {
  absl::flat_hash_map<Digest, Blob> aligned;
  for (const v1::Constant& constant : manifest_.proto().constants()) {
    SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(constant.blob()));
    auto found = aligned.find(digest);
    if (found == aligned.end()) {
      SLIPWAY_ASSIGN_OR_RETURN(Blob blob, Aligned(artifact.blob(digest)));
      found = aligned.emplace(digest, std::move(blob)).first;
    }
    constants_.push_back(found->second.Part(constant.offset(), constant.size_bytes()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ProgramContext>> CpuProgram::NewContext(
    const ProgramContextOptions& options) const {
  return CpuContext::Create(*this, options);
}

}  // namespace slipway
