// Interpreter: follows the steps of a program, whatever its devices.
#ifndef SLIPWAY_CORE_RUNTIME_INTERPRETER_H_
#define SLIPWAY_CORE_RUNTIME_INTERPRETER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/runtime/call_options.h"
#include "core/runtime/device.h"
#include "core/runtime/dynamic_memory.h"
#include "core/runtime/resident_program.h"
#include "core/runtime/step_timing.h"
#include "core/runtime/symbol_table.h"
#include "core/runtime/tensor_view.h"
#include "core/runtime/value_table.h"

namespace slipway {

class LoopRunner;

struct InterpreterOptions {
  QueueOptions queues;
  // Memory of each space that dynamic buffers may hold.
  int64_t dynamic_bytes = 0;
  // Turns that all loops of a call may make together.
  int64_t loop_turns = 0;
  // As ProgramContextOptions has it.
  std::atomic<uint32_t>* position = nullptr;
};

// All that a run needs is laid out once: descriptors, launches bound to them, arenas, events. A call then sets the
// addresses of inputs and outputs, and extents where they are symbolic, and queues the steps. The manifest was
// checked; what depends on values is checked here: extents against the shapes they are given to, symbols against
// their bounds, values against the memory they lie in, expressions for results, loops for an end.
//
// A call of a function is Begin, then RunSteps, then reading its outputs, then End, also after an error. Functions
// do not call themselves, so each has one frame. Not thread-safe; must not outlive the program.
class Interpreter {
 public:
  // RESOURCE_EXHAUSTED when there is no memory for an arena.
  static absl::StatusOr<std::unique_ptr<Interpreter>> Create(const ResidentProgram& program,
                                                             const InterpreterOptions& options);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // A call of the program begins: durations and turns are counted from here. The options outlive it.
  void BeginRun(const CallOptions& options);
  // Waits for queued work, whatever became of the call.
  absl::Status FinishRun();
  // The call has ended.
  void EndRun() { position_->store(kNoStep, std::memory_order_relaxed); }

  // Binds inputs, whose memory lives until End. INVALID_ARGUMENT names the input that does not fit.
  absl::Status Begin(const FunctionPlan& function, absl::Span<const TensorView> inputs);
  // Gives an input, or after Begin an output in an external buffer, its memory. INVALID_ARGUMENT if another value
  // in that buffer does not fit.
  absl::Status SetMemory(const FunctionPlan& function, const PortPlan& port,
                         const DeviceMemory& memory) {
    // A tensor without elements may have no address.
    const bool has_address = memory.host != nullptr || memory.address != 0;
    const DeviceMemory& place = has_address ? memory : arenas_[port.space];
    values_.SetBuffer(port.buffer, {place.address, place.host, values_.bytes(port.value)});
    return function.has_symbolic_inputs ? CheckFits(function, port.buffer) : absl::OkStatus();
  }
  // Runs all steps and waits until they have ended. Errors name the step.
  absl::Status RunSteps(const FunctionPlan& function);
  void End(const FunctionPlan& function);

  // Begin and RunSteps: how functions call functions.
  absl::Status Call(const FunctionPlan& function, absl::Span<const TensorView> inputs);

  const ResidentProgram& program() const { return program_; }
  const FunctionPlan& function(uint32_t index) const { return program_.plan().functions[index]; }
  const ValueTable& values() const { return values_; }
  SymbolTable& symbols() { return symbols_; }
  DynamicMemory& memory() { return memory_; }
  uint32_t space_of(uint32_t value) const {
    return program_.plan().buffer_spaces[values_.buffer(value)];
  }
  // The value as it is now.
  TensorView ViewOf(uint32_t value) const;
  // Copies within a memory space at once. REQUIRES: no queued work touches either end.
  absl::Status CopyNow(uint32_t space, const DeviceMemory& from, const DeviceMemory& to,
                       int64_t bytes);

  // What lies there and in the host's own memory, one way or the other. REQUIRES: no queued work touches it.
  absl::Status ReadNow(uint32_t space, const DeviceMemory& from, void* to, int64_t bytes);
  absl::Status WriteNow(uint32_t space, const void* from, const DeviceMemory& to, int64_t bytes);

  // --- For control steps (control.cc, loop_runner.cc). ---

  // A result: a value of the step's function and what it becomes.
  struct Result {
    uint32_t value;
    TensorView view;
  };
  // Binds the symbols of results and begins the stage that the step gives rise to.
  absl::Status BindResults(const FunctionPlan& function, const StepPlan& step,
                           absl::Span<const Result> results);
  // Whether the value, a result of the step, gets its memory from it.
  bool IsMadeBy(const StepPlan& step, uint32_t value) const;
  // After BindResults: puts what `view` holds into a value, by handing on its block where that can be done.
  absl::Status StoreResult(const FunctionPlan& function, const StepPlan& step, uint32_t value,
                           const TensorView& view);
  // RESOURCE_EXHAUSTED when there were too many turns.
  absl::Status CountTurn();
  uint64_t call_of(const FunctionPlan& function) const { return frames_[function.index].call; }

  // Of all devices that have such a clock; see DeviceQueues.
  std::optional<int64_t> worked_ns() const;
  // By StepPlan::number; empty where the last call was not profiled.
  absl::Span<const StepTiming> timings() const { return timings_; }

 private:
  // The state of a function while it is called.
  struct Frame {
    uint64_t call = 0;
    uint32_t stage = 0;
    // Of SymbolTable::changes, when what follows from stage 0 was computed last.
    uint64_t evaluated_at = 0;
  };

  Interpreter(const ResidentProgram& program, const InterpreterOptions& options);
  absl::Status Prepare();
  absl::Status PrepareMemory();
  absl::Status PrepareLaunches();
  absl::Status BindSymbolicInputs(const FunctionPlan& function,
                                  absl::Span<const TensorView> inputs);
  absl::Status ComputeStage(const StagePlan& stage);
  absl::Status BeginStage(const FunctionPlan& function, uint32_t stage);
  // The values in a buffer whose extents are known by now.
  absl::Status CheckFits(const FunctionPlan& function, uint32_t buffer);
  absl::Status Place(const FunctionPlan& function, uint32_t buffer);

  absl::Status RunStep(const FunctionPlan& function, const StepPlan& step);
  // The same without giving memory back.
  absl::Status QueueStep(const FunctionPlan& function, const StepPlan& step);
  void Release(const StepPlan& step) {
    for (const uint32_t buffer : step.release) memory_.Release(buffer);
  }
  // A step of a call that is profiled or may be cancelled (watched_steps.cc).
  absl::Status RunWatchedStep(const FunctionPlan& function, const StepPlan& step);
  absl::Status ProfileStep(const FunctionPlan& function, const StepPlan& step);
  absl::Status DoStep(const FunctionPlan& function, const StepPlan& step);
  absl::Status RunKernel(const StepPlan& step);
  absl::Status RunCopy(const StepPlan& step);
  absl::Status RunBindSymbols(const FunctionPlan& function, const StepPlan& step);
  absl::Status RunBranch(const FunctionPlan& function, const StepPlan& step);
  absl::Status Finish(const FunctionPlan& function);

  const ResidentProgram& program_;
  const InterpreterOptions options_;
  ValueTable values_;
  SymbolTable symbols_;
  DynamicMemory memory_;
  std::vector<DeviceMemory> arenas_;  // By space.
  std::vector<Frame> frames_;
  std::vector<std::unique_ptr<DeviceQueues>> queues_;    // By device.
  std::vector<std::unique_ptr<DeviceLaunch>> launches_;  // By StepPlan::launch.
  std::vector<LaunchSizes> launch_sizes_;
  std::vector<std::unique_ptr<DeviceEvent>> events_;
  std::vector<std::unique_ptr<LoopRunner>> loops_;  // By StepPlan::loop.
  std::vector<TensorView> branch_inputs_;
  std::vector<Result> results_;
  std::vector<StepTiming> timings_;
  int64_t turns_made_ = 0;
  // Where the position goes that nobody reads.
  std::atomic<uint32_t> own_position_ = kNoStep;
  std::atomic<uint32_t>* const position_;
  // Of the call that runs.
  const CallOptions* call_ = nullptr;
  bool is_watched_ = false;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_INTERPRETER_H_
