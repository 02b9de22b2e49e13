// Programs on a device.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/convert.h"
#include "client/session.h"
#include "client/session/answers.h"
#include "client/session/transfer.h"
#include "core/base/status_macros.h"
#include "core/wire/tensor_proto.h"

namespace slipway {

RemoteProgram::RemoteProgram(std::shared_ptr<SessionEngine> engine, uint64_t handle,
                             std::string name)
    : engine_(std::move(engine)),
      handle_(handle),
      name_(std::move(name)),
      functions_(std::make_shared<LateFunctions>()) {}

RemoteProgram::~RemoteProgram() {
  if (is_set()) engine_->Free(handle_);
}

const std::vector<RemoteFunction>& RemoteProgram::functions() const {
  static const auto* const kNone = new std::vector<RemoteFunction>();
  return is_set() && functions_->is_known ? functions_->functions : *kNone;
}

absl::Duration RemoteProgram::load_time() const {
  return is_set() && functions_->is_known ? functions_->load_time : absl::ZeroDuration();
}

absl::Status RemoteProgram::Check(absl::Span<const RemoteTensor* const> tensors) const {
  if (!is_set()) return absl::InvalidArgumentError("the program is not set");
  for (const RemoteTensor* tensor : tensors) {
    SLIPWAY_RETURN_IF_ERROR(RemoteTensor::CheckIsOf(engine_.get(), *tensor));
  }
  return absl::OkStatus();
}

// The outputs that a call makes; none of a function that is not there, which the device will say.
std::vector<RemoteTensor> RemoteProgram::MakeOutputs(const RemoteCallOptions& options) const {
  std::vector<RemoteTensor> outputs;
  const auto found =
      std::find_if(functions().begin(), functions().end(), [&](const RemoteFunction& candidate) {
        return options.function.empty() || candidate.name == options.function;
      });
  if (found == functions().end()) return outputs;
  for (size_t i = 0; i < found->outputs.size(); ++i) {
    const bool is_named = i < options.output_names.size();
    outputs.push_back(RemoteTensor(
        engine_, is_named ? options.output_names[i] : found->outputs[i].name, TensorType()));
  }
  return outputs;
}

Future<CallReport> RemoteProgram::StartCall(absl::Span<const RemoteTensor* const> inputs,
                                            absl::Span<RemoteTensor* const> outputs,
                                            const RemoteCallOptions& options) const {
  std::vector<OutgoingRequest> requests(1);
  SetDeadline(options.deadline, requests[0].request);
  v1::SessionRequest::Call& call = *requests[0].request.mutable_call();
  call.set_program(handle_);
  call.set_function(options.function);
  call.set_profile(options.profile);
  for (const std::string& name : options.output_names) call.add_output_names(name);
  for (const RemoteTensor* input : inputs) call.add_inputs(input->handle_);
  std::vector<std::shared_ptr<RemoteTensor::LateType>> types;
  for (const RemoteTensor* output : outputs) {
    call.add_outputs(output->handle_);
    types.push_back(output->type_);
  }
  const auto take = [types = std::move(types)](size_t, const RequestAnswer& answer,
                                               CallReport& report) -> absl::Status {
    const v1::SessionResponse::Called& called = answer.response.called();
    if (called.outputs_size() != static_cast<int>(types.size())) {
      return absl::InternalError(absl::StrCat("the device tells of ", called.outputs_size(),
                                              " outputs of a call that has ", types.size()));
    }
    for (size_t i = 0; i < types.size(); ++i) {
      absl::StatusOr<TensorType> type = FromProto(called.outputs(static_cast<int>(i)));
      if (!type.ok()) {
        return absl::InternalError(
            absl::StrCat("the type of output ", i, " of a call: ", type.status().message()));
      }
      if (types[i]->is_known) continue;
      types[i]->type = *std::move(type);
      types[i]->is_known = true;
    }
    report.duration = absl::Nanoseconds(called.duration_ns());
    report.steps = StepTimesFromProto(called.steps());
    report.peaks = PeaksFromProto(called.peaks());
    report.accelerator_peaks = AcceleratorPeaksFromProto(called.peaks());
    report.threads = std::max(called.threads(), 0);
    return absl::OkStatus();
  };
  return Start<CallReport>(engine_, std::move(requests), {}, take);
}

absl::StatusOr<std::vector<RemoteTensor>> RemoteProgram::Call(
    absl::Span<const RemoteTensor* const> inputs, const RemoteCallOptions& options) const {
  StartedCall started = CallAsync(inputs, options);
  SLIPWAY_RETURN_IF_ERROR(started.done.Get().status());
  return std::move(started.outputs);
}

StartedCall RemoteProgram::CallAsync(absl::Span<const RemoteTensor* const> inputs,
                                     const RemoteCallOptions& options) const {
  StartedCall started;
  if (is_set()) started.outputs = MakeOutputs(options);
  std::vector<RemoteTensor*> outputs;
  for (RemoteTensor& output : started.outputs) outputs.push_back(&output);
  started.done = CallIntoAsync(inputs, outputs, options);
  return started;
}

absl::StatusOr<CallReport> RemoteProgram::CallInto(absl::Span<const RemoteTensor* const> inputs,
                                                   absl::Span<RemoteTensor* const> outputs,
                                                   const RemoteCallOptions& options) const {
  return CallIntoAsync(inputs, outputs, options).Get();
}

Future<CallReport> RemoteProgram::CallIntoAsync(absl::Span<const RemoteTensor* const> inputs,
                                                absl::Span<RemoteTensor* const> outputs,
                                                const RemoteCallOptions& options) const {
  absl::Status status = Check(inputs);
  if (status.ok()) status = Check(outputs);
  if (!status.ok()) return FailedFuture<CallReport>(std::move(status));
  return StartCall(inputs, outputs, options);
}

absl::StatusOr<BenchmarkResult> RemoteProgram::Time(absl::Span<const RemoteTensor* const> inputs,
                                                    const TimingOptions& options) const {
  return TimeAsync(inputs, options).Get();
}

Future<BenchmarkResult> RemoteProgram::TimeAsync(absl::Span<const RemoteTensor* const> inputs,
                                                 const TimingOptions& options) const {
  absl::Status status = Check(inputs);
  if (!status.ok()) return FailedFuture<BenchmarkResult>(std::move(status));
  std::vector<OutgoingRequest> requests(1);
  SetDeadline(options.call.deadline, requests[0].request);
  v1::SessionRequest::Time& time = *requests[0].request.mutable_time();
  time.mutable_call()->set_program(handle_);
  time.mutable_call()->set_function(options.call.function);
  time.mutable_call()->set_profile(options.call.profile);
  for (const RemoteTensor* input : inputs) time.mutable_call()->add_inputs(input->handle_);
  time.set_warmup(options.warmup);
  time.set_samples(options.samples);
  time.set_min_sample_ns(absl::ToInt64Nanoseconds(options.min_sample));
  time.set_flush_cache(options.flush_cache);
  time.set_cool_down_ns(absl::ToInt64Nanoseconds(options.cool_down));
  return Start<BenchmarkResult>(
      engine_, std::move(requests), {},
      [](size_t, const RequestAnswer& answer, BenchmarkResult& result) -> absl::Status {
        absl::StatusOr<BenchmarkResult> timed =
            BenchmarkFromProto(answer.response.timed().result());
        if (!timed.ok()) return timed.status();
        result = *std::move(timed);
        return absl::OkStatus();
      });
}

}  // namespace slipway
