#include "core/artifact/constant_outputs.h"

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"
#include "core/wire/digest_proto.h"

namespace slipway {

absl::StatusOr<std::vector<NamedTensor>> ConstantOutputs(const Artifact& artifact) {
  const CheckedManifest& manifest = artifact.manifest();
  const v1::Manifest& proto = manifest.proto();
  const v1::Function& entry = manifest.entry();
  if (entry.inputs_size() > 0) {
    return absl::FailedPreconditionError("the program takes inputs, and computes its outputs");
  }
  // For each value that is copied, from where.
  absl::flat_hash_map<uint32_t, uint32_t> copied;
  for (const v1::Step& step : entry.steps()) {
    if (step.has_copy()) copied[step.copy().to()] = step.copy().from();
  }
  std::vector<NamedTensor> outputs;
  for (const v1::Binding& output : entry.outputs()) {
    uint32_t id = output.value();
    // Each copy is from what was written before it, so that this ends; the number of steps bounds it for sure.
    for (int i = 0; i < entry.steps_size() && copied.contains(id); ++i) id = copied[id];
    const v1::Value& value = proto.values(static_cast<int>(id));
    const v1::Buffer& buffer = proto.buffers(static_cast<int>(value.buffer()));
    if (buffer.class_() != v1::Buffer::CLASS_CONSTANT) {
      return absl::FailedPreconditionError(
          absl::StrCat("output \"", absl::Utf8SafeCEscape(output.name()), "\" is no constant"));
    }
    const v1::Constant& constant = proto.constants(static_cast<int>(buffer.constant()));
    SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, FromProto(constant.blob()));
    const TensorType type = manifest.TypeOf(id);
    SLIPWAY_ASSIGN_OR_RETURN(const int64_t size, CheckShape(type.shape, ByteSize(type.dtype)));
    const absl::string_view bytes = artifact.blob(digest).bytes().substr(
        static_cast<size_t>(constant.offset() + value.offset()), static_cast<size_t>(size));
    SLIPWAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromBytes(type, bytes));
    outputs.push_back({output.name(), std::move(tensor)});
  }
  return outputs;
}

}  // namespace slipway
