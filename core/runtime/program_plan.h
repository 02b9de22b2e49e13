// ProgramPlan: what the interpreter knows of a program before it runs, computed once from its manifest.
#ifndef SLIPWAY_CORE_RUNTIME_PROGRAM_PLAN_H_
#define SLIPWAY_CORE_RUNTIME_PROGRAM_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/artifact/checked_manifest.h"
#include "proto/slipway/v1/artifact.pb.h"

namespace slipway {

// Numbers become known in stages: stage 0 when a function is called, and one more with each of its steps that
// gives symbols values. What follows from the symbols of a stage is computed once, when the stage begins.
struct StagePlan {
  // Expressions to evaluate, ascending.
  std::vector<uint32_t> expressions;
  // Values whose extents are known then.
  std::vector<uint32_t> values;
  // What must hold of expressions that are known then.
  std::vector<const v1::Constraint*> constraints;
};

struct StepPlan {
  const v1::Step* proto = nullptr;
  // Index among all steps of the program.
  uint32_t number = 0;
  uint32_t device = 0;
  uint32_t queue = 0;
  // Its index among all kernel steps, or all loops, of the program.
  uint32_t launch = 0;
  uint32_t loop = 0;
  // Nothing but a launch of fixed sizes: no events, no memory to place or release.
  bool is_plain_launch = false;
  // A launch that a library's way is taken in place of (ResidentProgram::chosen_steps), of which the last one stands for all; or the number there.
  bool is_left_out = false;
  int chosen = -1;
  // Events to wait for, and the one to record; indices among all of the program.
  std::vector<uint32_t> waits;
  int event = -1;
  // Dynamic buffers that this step touches first and that must be placed before it.
  std::vector<uint32_t> place;
  // Dynamic buffers that get their memory from this control step.
  std::vector<uint32_t> made;
  // Dynamic buffers that it touches last.
  std::vector<uint32_t> release;
  // The stage that begins after it; 0 where none does.
  uint32_t stage = 0;
};

// An input or output of a function.
struct PortPlan {
  uint32_t value = 0;
  uint32_t buffer = 0;
  uint32_t space = 0;
  // Of an entry: the caller brings its memory.
  bool is_external = false;
  // It lies in memory of device 0 alone.
  bool is_on_host = false;
};

struct FunctionPlan {
  uint32_t index = 0;
  const v1::Function* proto = nullptr;
  std::vector<PortPlan> inputs;
  std::vector<PortPlan> outputs;
  std::vector<StepPlan> steps;
  // Never empty.
  std::vector<StagePlan> stages;
  // Some extent of an input is an expression.
  bool has_symbolic_inputs = false;
  // Buffers that may hold memory of the pool while the function runs: dynamic ones, and those of inputs when
  // another function calls this one.
  std::vector<uint32_t> pooled;
  // Devices whose queued work must be waited for.
  std::vector<uint32_t> asynchronous_devices;
};

struct ProgramPlan {
  std::vector<FunctionPlan> functions;
  // Functions that callers may run: the manifest's entry, then its further ones.
  std::vector<uint32_t> entries;
  // What uses expressions, but no symbol: known before anything is called.
  StagePlan constants;
  // By buffer.
  std::vector<v1::Buffer::Class> buffer_classes;
  std::vector<uint32_t> buffer_spaces;
  // By value: the stage of its function in which its extents become known; 0 where they are numbers.
  std::vector<uint32_t> value_stages;
  uint32_t steps = 0;
  uint32_t launches = 0;
  uint32_t loops = 0;
  uint32_t events = 0;
};

// The manifest outlives the plan; `is_synchronous` is that of ComputeDevice, for each of its devices.
ProgramPlan PlanProgram(const CheckedManifest& manifest, absl::Span<const bool> is_synchronous);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_PROGRAM_PLAN_H_
