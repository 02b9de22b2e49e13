// CallOptions: how one call is watched while it runs. Whoever looks at a program from outside needs no more.
#ifndef SLIPWAY_CORE_RUNTIME_CALL_OPTIONS_H_
#define SLIPWAY_CORE_RUNTIME_CALL_OPTIONS_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/tensor/dtype.h"

namespace slipway {

// What a context's step position (ProgramContextOptions::position) holds while no call runs.
inline constexpr uint32_t kNoStep = UINT32_MAX;

// A value that a step wrote.
struct StepValue {
  // That of the entry's output that it is; empty for a value in between. A value that is several outputs is told
  // once for each.
  absl::string_view name;
  // Its index in the manifest.
  uint32_t value = 0;
  DataType dtype = DataType::kInvalid;
  absl::Span<const int64_t> extents;  // Outermost first.
  // Dense and row-major, as it lies: what compilers keep in blocks is in blocks.
  absl::string_view bytes;
};

// A step that has ended. All of it is valid until the observer returns.
struct StepReport {
  // Its place in Program::steps.
  uint32_t step = 0;
  // The turns that the loops around it are in, outermost loop first.
  absl::Span<const int64_t> turns;
  // A control step's are its results; the steps of the functions it called were told before.
  absl::Span<const StepValue> values;
};

// Called on the thread that runs the call. An error ends the call, which returns it with the step's name.
using StepObserver = std::function<absl::Status(const StepReport&)>;

// What is pointed to outlives the call.
struct CallOptions {
  // The number of the entry function, as Program::FindEntry has it.
  int entry = 0;
  // Measure every step (ProgramContext::step_durations_ns); waits for each to end.
  bool profile = false;
  // Looked at before every step: once it is set, the call ends with CANCELLED and the step it did not begin. Null
  // for a call that nobody cancels.
  const std::atomic<bool>* cancelled = nullptr;
  // Told every step in the order they are made; waits for each to end. Null for none.
  const StepObserver* observer = nullptr;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_CALL_OPTIONS_H_
