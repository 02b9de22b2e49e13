// Program: a loaded artifact. ProgramContext: what one caller needs to run it.
#ifndef SLIPWAY_CORE_RUNTIME_PROGRAM_H_
#define SLIPWAY_CORE_RUNTIME_PROGRAM_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/artifact/artifact.h"
#include "core/artifact/program_steps.h"
#include "core/artifact/signature.h"
#include "core/runtime/call_options.h"
#include "core/runtime/device.h"
#include "core/runtime/device_tensor.h"
#include "core/runtime/step_timing.h"
#include "core/tensor/tensor.h"

namespace slipway {

class Interpreter;
class ResidentProgram;

// Most threads a context may have.
inline constexpr int kMaxThreads = 1024;

struct ProgramContextOptions {
  // Threads kernels run on, the caller's included; 1 to kMaxThreads.
  int threads = 1;
  // Scratch memory kernels may hold.
  int64_t scratch_bytes = int64_t{1} << 34;
  // Memory that buffers of sizes known only while running may hold, in each memory space.
  int64_t dynamic_bytes = int64_t{1} << 34;
  // Turns that all loops of a call may make together.
  int64_t loop_turns = int64_t{1} << 24;
  // Whether devices that have a clock tell for how long they work, for profiles and ProgramContext::worked_ns, though it costs
  // each call some calls of their drivers (QueueOptions::is_timed).
  bool is_timed = false;
  // Where the number of the step begun last stands, its place in Program::steps; kNoStep between calls. May lie in
  // memory that another process reads after this one has crashed. Of a device that queues work it is the step queued
  // last, or what the device tells (QueueOptions::position). Outlives the context; null where nobody reads it.
  std::atomic<uint32_t>* position = nullptr;
};

// Buffers, queues, threads and scratch memory for calls that follow each other. Not thread-safe; contexts
// of one program may run at the same time. Must not outlive its program.
class ProgramContext {
 public:
  ~ProgramContext();
  ProgramContext(const ProgramContext&) = delete;
  ProgramContext& operator=(const ProgramContext&) = delete;

  // Calls an entry function. Inputs and outputs are in the signature's order. An output that
  // is set is written in place and must be of the type that the call gives it; one that is not is made.
  // Outputs whose size is found out while running are always made anew. When inputs have sizes that were seen
  // before and outputs are set, a call allocates nothing but those.
  //
  // INVALID_ARGUMENT names an input or output of another type, their number, or the symbol, step and value that
  // do not agree with the extents given, or an output that shares memory with an input or another output (inputs
  // may share theirs); RESOURCE_EXHAUSTED the step and the option whose limit it reached;
  // INTERNAL the step that failed, in which function and turn, with what its kernel said; CANCELLED the step before
  // which it was cancelled. Outputs are then undefined; the context is as good as before.
  absl::Status Run(absl::Span<const Tensor> inputs, absl::Span<Tensor> outputs,
                   const CallOptions& options = {});
  // The same with tensors that stay on their devices: those in the place the program wants them in
  // (Program::InputPlace) are used where they are, others copied.
  absl::Status Run(absl::Span<const DeviceTensor> inputs, absl::Span<DeviceTensor> outputs,
                   const CallOptions& options = {});

  // What each step took in the last run, in the order of Program::steps; empty without CallOptions::profile. A control
  // step's duration has those of the steps in it. Valid until the next run.
  absl::Span<const StepTiming> step_timings() const;

  // For how long devices with a clock of their own have worked for this context's calls, nanoseconds; nothing where none has one
  // (DeviceQueues::worked_ns).
  std::optional<int64_t> worked_ns() const;

 private:
  friend class Program;
  ProgramContext(const ResidentProgram& program, std::unique_ptr<Interpreter> interpreter);

  template <typename AnyTensor>
  absl::Status RunAny(absl::Span<const AnyTensor> inputs, absl::Span<AnyTensor> outputs,
                      const CallOptions& options);

  struct Call;
  const ResidentProgram& program_;
  const std::unique_ptr<Interpreter> interpreter_;
  const std::unique_ptr<Call> call_;
};

// Immutable and thread-safe.
class Program {
 public:
  // Loads on these devices, one for each of the manifest's; their drivers said that they support it.
  // INVALID_ARGUMENT and UNIMPLEMENTED say why code does not load; RESOURCE_EXHAUSTED that a device has no
  // memory for the constants.
  static absl::StatusOr<std::unique_ptr<Program>> Load(
      const Artifact& artifact, std::vector<std::shared_ptr<ComputeDevice>> devices);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Of entry 0.
  const ProgramSignature& signature() const;
  // Those of Load.
  absl::Span<const std::shared_ptr<ComputeDevice>> devices() const;
  // The steps of all functions, those of the first one first.
  const std::vector<StepInfo>& steps() const { return steps_; }

  // Names of the functions that may be called; a call runs the first one unless it says otherwise.
  const std::vector<std::string>& entries() const { return entries_; }
  // The number of the entry function with that name. NOT_FOUND lists the names.
  absl::StatusOr<int> FindEntry(absl::string_view name) const;
  // Where an input is used without being copied. REQUIRES: there is such an entry and input.
  TensorPlace InputPlace(int input, int entry = 0) const;

  // INVALID_ARGUMENT for options out of range; RESOURCE_EXHAUSTED when there is no memory for the
  // arenas.
  absl::StatusOr<std::unique_ptr<ProgramContext>> NewContext(
      const ProgramContextOptions& options) const;

 private:
  Program(std::unique_ptr<ResidentProgram> loaded, std::vector<StepInfo> steps);

  const std::unique_ptr<ResidentProgram> loaded_;
  const std::vector<StepInfo> steps_;
  std::vector<std::string> entries_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_PROGRAM_H_
