// What an artifact's program is, as the C library or the module with a runner of JavaScript that it becomes: one function of steps
// over memory whose places are all known.
#ifndef SLIPWAY_CLIENT_LIBRARY_LIBRARY_PLAN_H_
#define SLIPWAY_CLIENT_LIBRARY_LIBRARY_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/artifact/artifact.h"
#include "core/base/blob.h"
#include "core/tensor/tensor.h"

namespace slipway {

struct LibraryValue {
  // In this order in templates/library.c.in.
  enum class Place { kArena, kWeights, kInput, kOutput };
  Place place = Place::kArena;
  uint32_t index = 0;  // Of the input or output.
  int64_t offset = 0;  // In bytes.
  TensorType type;
};

struct LibraryStep {
  // Of the table of kernels; -1 copies the first argument to the second.
  int64_t kernel = -1;
  std::vector<uint32_t> arguments;  // Indices of values.
  std::string name;                 // For people, as the model has it.
};

struct LibraryPort {
  std::string name;  // As the model has it.
  TensorType type;
};

struct LibraryPlan {
  std::string target;
  bool is_module = false;  // For wasm-32: to be rendered by RenderModule, else by RenderLibrary.
  std::vector<LibraryPort> inputs;
  std::vector<LibraryPort> outputs;
  std::vector<LibraryValue> values;
  std::vector<LibraryStep> steps;
  // What LinkLibrary of core/codegen makes, which is relocatable; for wasm-32 the module that LinkProgram makes.
  Blob object;
  uint32_t kernel_count = 0;
  std::vector<Blob> weights;  // One behind the other, each at the next multiple of 64.
  int64_t weights_bytes = 0;  // Of all, a multiple of 64.
  int64_t arena_bytes = 0;    // A multiple of 64.
  // What kernels may ask for in a call, at most, as ProgramNotes.kernel_scratch_bytes counts it; of those of `unbounded`, steps, nobody knows.
  int64_t scratch_bytes = 0;
  std::vector<uint32_t> unbounded;
  // Likewise in a task of a parallel loop, if the compiler told; without that a run is one thread's.
  std::optional<int64_t> task_scratch_bytes;
};

// UNIMPLEMENTED names what libraries do not have: control flow, sizes found out while running, several devices, code that is no
// object (from a compiler that makes none). FAILED_PRECONDITION names the input whose extents are open.
absl::StatusOr<LibraryPlan> PlanLibrary(const Artifact& artifact);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_LIBRARY_LIBRARY_PLAN_H_
