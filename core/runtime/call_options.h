// CallOptions: how one call is watched while it runs. Whoever looks at a program from outside needs no more.
#ifndef SLIPWAY_CORE_RUNTIME_CALL_OPTIONS_H_
#define SLIPWAY_CORE_RUNTIME_CALL_OPTIONS_H_

#include <atomic>
#include <cstdint>

namespace slipway {

// What a context's step position (ProgramContextOptions::position) holds while no call runs.
inline constexpr uint32_t kNoStep = UINT32_MAX;

// What is pointed to outlives the call.
struct CallOptions {
  // The number of the entry function, as Program::FindEntry has it.
  int entry = 0;
  // Measure every step (ProgramContext::step_timings); waits for each to end.
  bool profile = false;
  // Looked at before every step: once it is set, the call ends with CANCELLED and the step it did not begin. Null
  // for a call that nobody cancels.
  const std::atomic<bool>* cancelled = nullptr;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_CALL_OPTIONS_H_
