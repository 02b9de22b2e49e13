// LoopRunner: a Loop step.
#ifndef SLIPWAY_CORE_RUNTIME_LOOP_RUNNER_H_
#define SLIPWAY_CORE_RUNTIME_LOOP_RUNNER_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/runtime/interpreter.h"
#include "core/runtime/memory_pool.h"
#include "core/runtime/tensor_view.h"
#include "core/tensor/shape.h"

namespace slipway {

// Carried values move from turn to turn in blocks of the pool: what a body gives in a block of its own is handed on,
// anything else is copied. After the first run with some sizes nothing is allocated. One a loop step, since a loop
// is never within itself.
class LoopRunner {
 public:
  // Both outlive this.
  LoopRunner(Interpreter& interpreter, const StepPlan& step);

  // Runs the step, in a call of `function`. RESOURCE_EXHAUSTED when the loop does not end within its limit;
  // errors of the body name the turn.
  absl::Status Run(const FunctionPlan& function);

 private:
  using Block = MemoryPool::Block;
  using Extents = std::array<int64_t, kMaxRank>;

  // A value whose slices the turns give.
  struct Collected {
    // The caller's value has memory, where slices go at once; otherwise they are gathered in a block.
    bool is_in_place = false;
    Block* block = nullptr;
    DeviceMemory memory;
    // Of the caller's value: turns first.
    Extents extents;
    int64_t slice_bytes = 0;
  };

  absl::Status MakeTurns(const FunctionPlan& function);
  absl::Status BeginLoop();
  absl::Status ReadCondition(uint32_t value, bool& holds);
  absl::Status MakeTurn(int64_t turn, bool& goes_on);
  absl::Status BindSlices(int64_t turn);
  absl::Status Carry();
  absl::Status Collect(int64_t turn);
  absl::Status Grow(size_t index, int64_t bytes);
  absl::Status StoreResults(const FunctionPlan& function, int64_t turns);
  // Returns every block.
  void Clear();

  Interpreter& interpreter_;
  const StepPlan& step_;
  const v1::Step::Loop& loop_;
  const FunctionPlan& body_;
  // Of the body's inputs and outputs.
  const size_t first_carried_input_ = 1;
  const size_t first_scanned_input_;
  const size_t first_captured_input_;
  const size_t first_carried_output_;
  const size_t first_collected_output_;

  // Turns at most, and whether as many will be made.
  int64_t most_turns_ = 0;
  bool is_exact_ = false;

  std::vector<TensorView> inputs_;
  std::vector<Extents> carried_extents_;
  std::vector<Block*> carried_;       // Null in the first turn.
  std::vector<Block*> next_carried_;  // While they are gathered.
  std::vector<Block*> slices_;        // Copies of slices that are not aligned; by scanned value.
  std::vector<Collected> collected_;
  Block* turn_ = nullptr;
  std::vector<Interpreter::Result> results_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_LOOP_RUNNER_H_
