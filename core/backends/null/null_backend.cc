#include "core/backends/null/null_backend.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/artifact/artifact.h"
#include "core/artifact/format_version.h"
#include "core/base/blob.h"
#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "core/base/version.h"
#include "core/graph/bind_symbols.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/wire/digest_proto.h"

namespace slipway {
namespace {

// One buffer and the one value in it.
uint32_t AddValue(v1::Manifest& manifest, v1::Buffer::Class kind, const TensorType& type) {
  v1::Buffer& buffer = *manifest.add_buffers();
  buffer.set_class_(kind);
  buffer.mutable_size()->set_constant(type.byte_size());
  v1::Value& value = *manifest.add_values();
  value.set_dtype(static_cast<v1::DataType>(type.dtype));
  for (const int64_t extent : type.shape) value.add_shape()->set_value(extent);
  value.set_buffer(static_cast<uint32_t>(manifest.buffers_size()) - 1);
  return static_cast<uint32_t>(manifest.values_size()) - 1;
}

}  // namespace

absl::Status NullBackend::CheckTarget(const Target& target) const {
  if (target.devices.size() == 1) return absl::OkStatus();
  return absl::UnimplementedError("null: programs of several devices are not supported");
}

absl::StatusOr<BackendResult> NullBackend::Compile(const BackendRequest& request) {
  const Graph& graph = request.graph;
  SLIPWAY_RETURN_IF_ERROR(CheckStatic(graph, "null"));
  if (!request.library_name.empty()) {
    return absl::UnimplementedError("null: programs cannot be made libraries: they have no code");
  }
  int64_t zero_bytes = 1;
  for (const ValueId id : graph.outputs) {
    zero_bytes = std::max(zero_bytes, graph.value(id).type->byte_size());
  }
  if (zero_bytes > kMaxZeroBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "null: an output of ", zero_bytes, " bytes is over the limit of ", kMaxZeroBytes));
  }
  const Blob zeros = Blob::Own(std::string(zero_bytes, '\0'));
  const Digest zeros_digest = Digest::Of(zeros.bytes());

  v1::Manifest manifest;
  manifest.set_min_reader_abi(SLIPWAY_ABI_VERSION);
  manifest.set_target(request.target.ToString());
  manifest.set_name("null");
  manifest.set_compile_key(request.compile_key);
  manifest.add_devices()->set_target(request.target.host().ToString());
  v1::ToolVersion& tool = *manifest.add_tools();
  tool.set_name("slipway");
  tool.set_version(std::string(kVersion));

  v1::Function& main = *manifest.add_functions();
  main.set_name("main");
  for (const ValueId id : graph.inputs) {
    v1::Binding& input = *main.add_inputs();
    input.set_name(graph.value(id).name);
    input.set_value(AddValue(manifest, v1::Buffer::CLASS_EXTERNAL, graph.value(id).type->tensor()));
  }
  for (const ValueId id : graph.outputs) {
    const TensorType& type = graph.value(id).type->tensor();
    v1::Constant& constant = *manifest.add_constants();
    *constant.mutable_blob() = ToProto(zeros_digest);
    constant.set_size_bytes(type.byte_size());
    const uint32_t from = AddValue(manifest, v1::Buffer::CLASS_CONSTANT, type);
    manifest.mutable_buffers(manifest.buffers_size() - 1)
        ->set_constant(static_cast<uint32_t>(manifest.constants_size()) - 1);
    v1::Binding& output = *main.add_outputs();
    output.set_name(graph.value(id).name);
    output.set_value(AddValue(manifest, v1::Buffer::CLASS_EXTERNAL, type));
    v1::Step& step = *main.add_steps();
    step.set_name("Zeros");
    step.mutable_copy()->set_from(from);
    step.mutable_copy()->set_to(output.value());
  }
  manifest.set_format_version(LowestFormatVersion(manifest));
  SLIPWAY_ASSIGN_OR_RETURN(
      Artifact artifact,
      Artifact::Create(manifest, [&](const Digest&) -> absl::StatusOr<Blob> { return zeros; }));
  return BackendResult{std::move(artifact), {}, 0, 0, 0, zero_bytes};
}

}  // namespace slipway
