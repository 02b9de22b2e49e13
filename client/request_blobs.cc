#include "client/request_blobs.h"

#include <map>
#include <memory>
#include <string>

#include "core/wire/digest_proto.h"
#include "core/wire/tensor_proto.h"

namespace slipway {

void SetEvaluation(const std::vector<NamedTensor>& inputs, v1::CompileOptions& options,
                   std::vector<NamedBlob>& blobs) {
  std::map<std::string, Tensor> by_name;
  for (const NamedTensor& input : inputs) by_name[input.name] = input.tensor;
  v1::Evaluation& evaluation = *options.mutable_evaluation();
  for (const auto& [name, tensor] : by_name) {
    const Digest digest = Digest::Of(tensor.bytes());
    *evaluation.add_inputs() = slipway::ToBlobProto(name, tensor.type(), digest);
    blobs.push_back({digest, Blob::Own(std::string(tensor.bytes()))});
  }
}

std::vector<NamedBlob> SetRun(const Digest& artifact, const std::vector<NamedTensor>& inputs,
                              const RunOptions& options, v1::RunSpec& spec) {
  *spec.mutable_manifest() = ToProto(artifact);
  spec.set_name(options.name);
  spec.set_device(options.device);
  spec.set_seed(options.seed);
  spec.set_threads(options.threads);
  spec.set_loop_turns(options.loop_turns);
  spec.set_dynamic_bytes(options.dynamic_bytes);
  std::vector<NamedBlob> blobs;
  for (const NamedTensor& input : inputs) {
    const Tensor& tensor = input.tensor;
    if (tensor.byte_size() <= kMaxInlineTensorBytes) {
      *spec.add_inputs() = ToInlineProto(input.name, tensor);
      continue;
    }
    const Digest digest = Digest::Of(tensor.bytes());
    *spec.add_inputs() = ToBlobProto(input.name, tensor.type(), digest);
    blobs.push_back({digest, Blob(tensor.bytes(), std::make_shared<Tensor>(tensor))});
  }
  return blobs;
}

}  // namespace slipway
