#include "server/health/probe_program.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/artifact/format_version.h"
#include "core/base/blob.h"
#include "core/base/embedded_file.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/tensor/tensor.h"
#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"
#include "server/health/probe_code.h"

namespace slipway::server {
namespace {

constexpr int64_t kElements = 512;
constexpr int64_t kBytes = kElements * 4;
// Fingerprint of what a sound device gives. The test computes it another way.
constexpr uint64_t kExpected = 0x98386fb508a64bd9;

v1::Manifest MakeManifest(const Target& target, absl::string_view code) {
  v1::Manifest manifest;
  manifest.set_min_reader_abi(SLIPWAY_OLDEST_ABI_VERSION);
  manifest.set_target(target.ToString());
  manifest.set_name("probe");
  manifest.add_devices()->set_target(target.devices.front().ToString());
  v1::Code& elf = *manifest.add_code();
  elf.set_kind(v1::Code::KIND_ELF);
  *elf.mutable_blob() = ToProto(Digest::Of(code));
  elf.set_kernel_count(1);
  v1::ToolVersion& tool = *manifest.add_tools();
  tool.set_name("slipwayd");
  tool.set_version(kVersion);
  v1::Function& main = *manifest.add_functions();
  main.set_name("main");
  v1::Step& step = *main.add_steps();
  step.set_name("mix");
  step.mutable_kernel()->set_kernel(0);
  for (const char* name : {"x", "y"}) {
    v1::Buffer& buffer = *manifest.add_buffers();
    buffer.set_class_(v1::Buffer::CLASS_EXTERNAL);
    buffer.mutable_size()->set_constant(kBytes);
    v1::Value& value = *manifest.add_values();
    value.set_dtype(v1::DATA_TYPE_UINT32);
    value.add_shape()->set_value(kElements);
    const auto index = static_cast<uint32_t>(manifest.values_size()) - 1;
    value.set_buffer(index);
    const bool is_input = *name == 'x';
    v1::Binding& binding = is_input ? *main.add_inputs() : *main.add_outputs();
    binding.set_name(name);
    binding.set_value(index);
    is_input ? step.mutable_kernel()->add_inputs(index) : step.mutable_kernel()->add_outputs(index);
  }
  manifest.set_format_version(LowestFormatVersion(manifest));
  return manifest;
}

v1::Tensor Input() {
  std::vector<uint32_t> numbers(kElements);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<uint32_t>(i);
  return ToInlineProto("x", Tensor::Of<uint32_t>({kElements}, absl::MakeConstSpan(numbers)));
}

// FNV-1a over 32 bits at a time.
uint64_t Fingerprint(absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    uint32_t element;
    std::memcpy(&element, bytes.data() + at, 4);
    hash = (hash ^ element) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

absl::StatusOr<ProbePrograms> ProbePrograms::Create() {
  ProbePrograms programs;
  for (const EmbeddedFile& file : ProbeCode()) {
    // "probe_kernel.x86-64-linux.so"
    const std::string name(file.name.substr(file.name.find('.') + 1));
    SLIPWAY_ASSIGN_OR_RETURN(const Target target, ParseTarget(name.substr(0, name.rfind('.'))));
    SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact,
                             Artifact::Create(MakeManifest(target, file.contents),
                                              [&file](const Digest&) -> absl::StatusOr<Blob> {
                                                return Blob::Own(std::string(file.contents));
                                              }));
    programs.blobs_.emplace_back(file.contents);
    programs.blobs_.emplace_back(artifact.manifest().bytes());
    Program program;
    *program.run.mutable_manifest() = ToProto(artifact.digest());
    *program.run.add_inputs() = Input();
    program.facts.set_target(target.ToString());
    program.facts.set_abi(SLIPWAY_OLDEST_ABI_VERSION);
    program.facts.set_format(static_cast<int>(artifact.manifest().proto().format_version()));
    programs.programs_.emplace_back(target.devices.front().arch, std::move(program));
  }
  for (const std::string& blob : programs.blobs_) programs.digests_.push_back(Digest::Of(blob));
  return programs;
}

absl::Status ProbePrograms::PutInto(BlobStore& blobs) const {
  for (const std::string& blob : blobs_) SLIPWAY_RETURN_IF_ERROR(PutBytes(blobs, blob).status());
  return absl::OkStatus();
}

absl::optional<ProbePrograms::Program> ProbePrograms::For(const Target& device) const {
  for (const auto& [arch, program] : programs_) {
    if (!device.devices.empty() && device.devices.front().arch == arch) return program;
  }
  return absl::nullopt;
}

absl::Status CheckProbeOutputs(const v1::RunResult& result) {
  const bool has_bytes = result.outputs_size() == 1 && result.outputs(0).has_inline_data() &&
                         result.outputs(0).inline_data().size() == static_cast<size_t>(kBytes);
  if (has_bytes && Fingerprint(result.outputs(0).inline_data()) == kExpected) {
    return absl::OkStatus();
  }
  return absl::DataLossError(has_bytes ? "it computes wrong results" : "it gives no results");
}

}  // namespace slipway::server
