// What an artifact's program is, as the C library or the module with a runner of JavaScript that it becomes: one list of steps, those of
// bodies in it, over memory whose places are all known.
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
  // What is done with the arguments. In this order in templates/library.c.in, by name in plans of client/js.
  enum class Kind {
    kKernel,
    kCopy,  // The first to the second.
    kTakeSlice,  // One along the outermost dimension of the first to the second; the third is its number.
    kPutSlice,  // The first to one of the second.
    // What decides which step is next, if it is not the one behind it.
    kBegin,  // The first, the number of a turn, is 0.
    kWhile,  // `target`, unless the first is below the second or, where there is none, below `turns`.
    kNext,    // The first is one more, then `target`.
    kUnless,  // `target`, unless the first holds.
    kGoTo,    // `target`.
  };
  Kind kind = Kind::kKernel;
  std::vector<uint32_t> arguments;  // Indices of values.
  int64_t kernel = 0;               // Of the table of kernels.
  int64_t bytes = 0;                // That are copied.
  int64_t turns = 0;
  uint32_t target = 0;  // Of the steps, or their number: the end.
  std::string
      name;  // For people, as the model has it; in a body with the function's in front of it.

  bool decides() const { return kind >= Kind::kBegin; }
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
  bool has_control = false;  // Some are more than kernels and copies.
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

// UNIMPLEMENTED names what libraries do not have: sizes found out while running, slices that loops collect over a number of turns that
// is not known before, several devices, code that is no object (from a compiler that makes none). FAILED_PRECONDITION names the input
// whose extents are open.
absl::StatusOr<LibraryPlan> PlanLibrary(const Artifact& artifact);

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_LIBRARY_LIBRARY_PLAN_H_
