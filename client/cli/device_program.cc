#include "client/cli/device_program.h"

#include <algorithm>
#include <utility>

#include "core/base/status_macros.h"

namespace slipway::cli {
namespace {

constexpr int kWarmup = 3;
constexpr int kSamples = 20;

std::vector<const RemoteTensor*> PointersTo(const std::vector<RemoteTensor>& tensors) {
  std::vector<const RemoteTensor*> pointers;
  for (const RemoteTensor& tensor : tensors) pointers.push_back(&tensor);
  return pointers;
}

}  // namespace

absl::StatusOr<DeviceProgram> DeviceProgram::Load(Session& session, const Digest& artifact,
                                                  int threads) {
  SLIPWAY_ASSIGN_OR_RETURN(RemoteProgram program, session.Load(artifact, {.threads = threads}));
  return DeviceProgram(session, std::move(program));
}

absl::StatusOr<std::vector<RemoteTensor>> DeviceProgram::Put(absl::Span<const Tensor> tensors) {
  std::vector<RemoteTensor> put;
  for (const Tensor& tensor : tensors) {
    SLIPWAY_ASSIGN_OR_RETURN(put.emplace_back(), session_->Put(tensor));
  }
  return put;
}

absl::StatusOr<std::vector<NamedTensor>> DeviceProgram::Call(absl::Span<const Tensor> inputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<RemoteTensor> put, Put(inputs));
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<RemoteTensor> remote, program_.Call(PointersTo(put)));
  std::vector<NamedTensor> outputs;
  for (size_t i = 0; i < remote.size(); ++i) {
    outputs.push_back({program_.functions().front().outputs[i].name, Tensor()});
    SLIPWAY_ASSIGN_OR_RETURN(outputs.back().tensor, remote[i].Get());
  }
  return outputs;
}

absl::StatusOr<absl::Duration> DeviceProgram::Time(absl::Span<const Tensor> inputs) {
  SLIPWAY_ASSIGN_OR_RETURN(const std::vector<RemoteTensor> put, Put(inputs));
  TimingOptions options;
  options.warmup = kWarmup;
  options.samples = kSamples;
  SLIPWAY_ASSIGN_OR_RETURN(const BenchmarkResult timed, program_.Time(PointersTo(put), options));
  const int64_t least = *std::min_element(timed.samples_ns.begin(), timed.samples_ns.end());
  return absl::Nanoseconds(static_cast<double>(least) /
                           static_cast<double>(timed.iterations_per_sample));
}

}  // namespace slipway::cli
