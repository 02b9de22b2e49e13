// RunnerService: what a runner does for each request.
#ifndef SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_SERVICE_H_
#define SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_SERVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/artifact/artifact.h"
#include "core/base/log.h"
#include "core/runtime/load_program.h"
#include "core/store/blob_store.h"
#include "core/tensor/tensor.h"
#include "device_agent/measure/accelerator_watch.h"
#include "device_agent/measure/attached_machine.h"
#include "device_agent/runner/handle_table.h"
#include "device_agent/runner/runner.pb.h"
#include "device_agent/runner/runner_window.h"
#include "device_agent/runner/tensor_memory.h"

namespace slipway {

// Holds programs and tensors. Not thread-safe.
class RunnerService {
 public:
  // `store` holds the blobs, and is only read; `window` is shared with the agent. Both must outlive this. `attached` is what the drivers
  // drive where that is another machine. `accelerators` is how those of
  // this machine are looked at.
  RunnerService(BlobStore& store, RunnerWindow& window, Drivers drivers = AllDrivers(),
                std::optional<AttachedMachine> attached = std::nullopt,
                const AcceleratorLooks& accelerators = {})
      : store_(store),
        window_(window),
        drivers_(std::move(drivers)),
        attached_(std::move(attached)),
        accelerators_(accelerators) {}

  // The response to a request; failures are in it.
  runner::Response Handle(const runner::Request& request);

 private:
  using Operation = v1::SessionRequest;

  absl::Status Dispatch(const runner::Request& request, runner::Response& response);
  absl::Status Operate(const runner::Request& request, v1::SessionResponse& result);
  absl::Status Load(const Operation::Load& load, const runner::LoadContext& context,
                    v1::SessionResponse::Loaded& loaded);
  absl::Status Allocate(const Operation::Allocate& request);
  absl::Status Write(const Operation::Write& request, absl::string_view data);
  absl::Status Read(const Operation::Read& request, absl::Span<char> data);
  absl::Status Slice(const Operation::Slice& request);
  absl::Status Assign(const Operation::Assign& request);
  absl::Status Call(const Operation::Call& request, const std::atomic<bool>& cancelled,
                    v1::SessionResponse::Called& called);
  absl::Status Time(const Operation::Time& request, const std::atomic<bool>& cancelled,
                    v1::BenchmarkResult& result);
  absl::Status Free(const Operation::Free& request);
  absl::Status GetFacts(v1::SessionResponse::Facts& facts) const;
  // The one that programs run on; with accelerators where programs may use them.
  v1::MachineState ReadMachine() const;
  absl::Status List(const Operation::List& request, v1::SessionResponse::Listed& listed);
  absl::Status Put(const runner::Put& request);
  absl::StatusOr<v1::Tensor> Fetch(const runner::Fetch& request);
  absl::StatusOr<v1::BenchmarkResult> Measure(const runner::Request& request);

  absl::StatusOr<Artifact> OpenArtifact(const std::string& manifest);
  absl::StatusOr<std::vector<Tensor>> Find(
      const google::protobuf::RepeatedField<uint64_t>& handles);
  // The part of the window that a request names. INVALID_ARGUMENT when it is not in it.
  absl::StatusOr<absl::Span<char>> DataOf(const runner::Request& request) const;
  // Calls the program as often as `calls` does; meanwhile the window says which one is called.
  absl::Status Run(uint64_t program, absl::FunctionRef<absl::Status()> calls);

  BlobStore& store_;
  RunnerWindow& window_;
  const Drivers drivers_;
  const std::optional<AttachedMachine> attached_;
  const AcceleratorLooks accelerators_;
  HandleTable handles_;
  TensorMemory memory_;
  std::optional<LogRequest> works_for_;  // For its own thread, on which all requests are handled.
};

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_RUNNER_RUNNER_SERVICE_H_
