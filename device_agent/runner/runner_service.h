// RunnerService: what a runner does for each request.
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_SERVICE_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_SERVICE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/artifact/artifact.h"
#include "core/runtime/program.h"
#include "core/store/blob_store.h"
#include "core/tensor/tensor.h"
#include "device_agent/runner/runner.pb.h"

namespace slipway {

// Holds a program and tensors. Not thread-safe.
class RunnerService {
 public:
  // `store` holds the blobs and takes large outputs; must outlive this.
  explicit RunnerService(BlobStore& store) : store_(store) {}

  // The response to a request; failures are in it.
  runner::Response Handle(const runner::Request& request);

 private:
  absl::Status Dispatch(const runner::Request& request, runner::Response& response);
  absl::Status Load(const runner::Load& request);
  absl::Status Put(const runner::Put& request);
  absl::Status PutRandom(const runner::PutRandom& request);
  absl::Status Call(const runner::Call& request);
  absl::StatusOr<v1::Tensor> Fetch(const runner::Fetch& request);
  absl::StatusOr<v1::BenchmarkResult> Measure(const runner::Measure& request);

  absl::StatusOr<Artifact> OpenArtifact(const std::string& manifest);
  absl::StatusOr<std::vector<Tensor>> Find(
      const google::protobuf::RepeatedField<uint64_t>& handles) const;

  BlobStore& store_;
  absl::flat_hash_map<uint64_t, Tensor> tensors_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<ProgramContext> context_;  // Of program_.
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_SERVICE_H_
