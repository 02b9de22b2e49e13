#include "device_agent/runner/runner_service.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/status_macros.h"
#include "core/runtime/load_program.h"
#include "core/tensor/random.h"
#include "core/wire/tensor_proto.h"
#include "device_agent/measure/measure.h"

namespace slipway {
namespace {

ProgramContextOptions ContextOptions(const runner::Load& load) {
  ProgramContextOptions options;
  options.threads = load.threads();
  options.scratch_bytes = load.scratch_bytes();
  options.dynamic_bytes = load.dynamic_bytes();
  if (load.loop_turns() > 0) options.loop_turns = load.loop_turns();
  return options;
}

int64_t NowNs() { return absl::ToInt64Nanoseconds(SystemClock().Monotonic()); }

}  // namespace

runner::Response RunnerService::Handle(const runner::Request& request) {
  runner::Response response;
  const int64_t begin = NowNs();
  const absl::Status status = Dispatch(request, response);
  response.set_duration_ns(NowNs() - begin);
  response.set_code(static_cast<int32_t>(status.code()));
  response.set_message(std::string(status.message()));
  return response;
}

absl::Status RunnerService::Dispatch(const runner::Request& request, runner::Response& response) {
  switch (request.kind_case()) {
    case runner::Request::kLoad:
      return Load(request.load());
    case runner::Request::kPut:
      return Put(request.put());
    case runner::Request::kPutRandom:
      return PutRandom(request.put_random());
    case runner::Request::kCall:
      return Call(request.call());
    case runner::Request::kFetch: {
      SLIPWAY_ASSIGN_OR_RETURN(*response.mutable_tensor(), Fetch(request.fetch()));
      return absl::OkStatus();
    }
    case runner::Request::kMeasure: {
      SLIPWAY_ASSIGN_OR_RETURN(*response.mutable_benchmark(), Measure(request.measure()));
      return absl::OkStatus();
    }
    case runner::Request::kUnload:
      context_.reset();
      program_.reset();
      tensors_.clear();
      return absl::OkStatus();
    case runner::Request::KIND_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("the request is of no known kind");
}

absl::StatusOr<Artifact> RunnerService::OpenArtifact(const std::string& manifest) {
  return Artifact::Parse(manifest, [this](const Digest& digest) { return store_.Get(digest); });
}

absl::Status RunnerService::Load(const runner::Load& request) {
  // Lines of the log, which goes into the job's error, say how far a program came that crashed.
  Log(LogLevel::kInfo, "loads a program", {{"artifact", Digest::Of(request.manifest()).hex()}});
  context_.reset();
  program_.reset();
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, OpenArtifact(request.manifest()));
  SLIPWAY_ASSIGN_OR_RETURN(program_, LoadProgram(artifact));
  SLIPWAY_ASSIGN_OR_RETURN(context_, program_->NewContext(ContextOptions(request)));
  return absl::OkStatus();
}

absl::Status RunnerService::Put(const runner::Put& request) {
  SLIPWAY_ASSIGN_OR_RETURN(
      tensors_[request.handle()],
      FromProto(request.tensor(), [this](const Digest& digest) { return store_.Get(digest); }));
  return absl::OkStatus();
}

absl::Status RunnerService::PutRandom(const runner::PutRandom& request) {
  SLIPWAY_ASSIGN_OR_RETURN(const TensorType type, FromProto(request.type()));
  SLIPWAY_ASSIGN_OR_RETURN(tensors_[request.handle()],
                           RandomTensor(type, request.seed(), request.name()));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> RunnerService::Find(
    const google::protobuf::RepeatedField<uint64_t>& handles) const {
  std::vector<Tensor> tensors;
  for (const uint64_t handle : handles) {
    const auto found = tensors_.find(handle);
    if (found == tensors_.end()) {
      return absl::InvalidArgumentError(absl::StrCat("no tensor has handle ", handle));
    }
    tensors.push_back(found->second);
  }
  return tensors;
}

absl::Status RunnerService::Call(const runner::Call& request) {
  if (context_ == nullptr) return absl::FailedPreconditionError("no program is loaded");
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, Find(request.inputs()));
  std::vector<Tensor> outputs(static_cast<size_t>(request.outputs_size()));
  Log(LogLevel::kInfo, "calls the program", {{"steps", program_->steps().size()}});
  SLIPWAY_RETURN_IF_ERROR(context_->Run(inputs, absl::MakeSpan(outputs)));
  for (size_t i = 0; i < outputs.size(); ++i) {
    tensors_[request.outputs(static_cast<int>(i))] = std::move(outputs[i]);
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Tensor> RunnerService::Fetch(const runner::Fetch& request) {
  const auto found = tensors_.find(request.handle());
  if (found == tensors_.end()) {
    return absl::InvalidArgumentError(absl::StrCat("no tensor has handle ", request.handle()));
  }
  const Tensor& tensor = found->second;
  if (tensor.byte_size() <= std::min(request.max_inline_bytes(), kMaxInlineTensorBytes))
    return ToInlineProto(request.name(), tensor);
  SLIPWAY_ASSIGN_OR_RETURN(const Digest digest, PutBytes(store_, tensor.bytes()));
  return ToBlobProto(request.name(), tensor.type(), digest);
}

absl::StatusOr<v1::BenchmarkResult> RunnerService::Measure(const runner::Measure& request) {
  SLIPWAY_ASSIGN_OR_RETURN(const Artifact artifact, OpenArtifact(request.load().manifest()));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, Find(request.inputs()));
  Log(LogLevel::kInfo, "measures a program",
      {{"artifact", artifact.digest().hex()}, {"samples", request.samples()}});
  MeasureOptions options;
  options.context = ContextOptions(request.load());
  options.warmup = request.warmup();
  options.samples = request.samples();
  options.profile = request.profile();
  return MeasureProgram(artifact, inputs, options);
}

}  // namespace slipway
