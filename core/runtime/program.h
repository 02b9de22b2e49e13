// Program: a loaded artifact. ProgramContext: what one caller needs to run it.
#ifndef SLIPWAY_CORE_RUNTIME_PROGRAM_H_
#define SLIPWAY_CORE_RUNTIME_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/artifact/signature.h"
#include "core/tensor/tensor.h"

namespace slipway {

// Most threads a context may have.
inline constexpr int kMaxThreads = 1024;

struct ProgramContextOptions {
  // Threads kernels run on, the caller's included; 1 to kMaxThreads.
  int threads = 1;
  // Scratch memory kernels may hold.
  int64_t scratch_bytes = int64_t{1} << 34;
  // Measure every step of every run.
  bool profile = false;
};

// Buffers, threads and scratch memory for calls that follow each other. Not thread-safe; contexts of
// one program may run at the same time. Must not outlive its program.
class ProgramContext {
 public:
  virtual ~ProgramContext() = default;

  // Inputs and outputs in the signature's order; outputs are written. After the first call with a
  // context, a call allocates nothing.
  //
  // INVALID_ARGUMENT names an input or output of another type, or their number.
  // INTERNAL names the step that failed, with what its kernel said; outputs are then undefined.
  virtual absl::Status Run(absl::Span<const Tensor> inputs, absl::Span<Tensor> outputs) = 0;

  // Duration of each step in the last run, nanoseconds; empty without `profile`.
  virtual absl::Span<const int64_t> step_durations_ns() const = 0;
};

// A step, for people.
struct StepInfo {
  std::string name;
  std::vector<std::string> operators;
};

// Immutable and thread-safe.
class Program {
 public:
  virtual ~Program() = default;
  virtual const ProgramSignature& signature() const = 0;
  virtual const std::vector<StepInfo>& steps() const = 0;

  // INVALID_ARGUMENT for options out of range; RESOURCE_EXHAUSTED when there is no memory for the
  // arena.
  virtual absl::StatusOr<std::unique_ptr<ProgramContext>> NewContext(
      const ProgramContextOptions& options) const = 0;

  // Tensors Run can write to. RESOURCE_EXHAUSTED.
  absl::StatusOr<std::vector<Tensor>> NewOutputs() const;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_PROGRAM_H_
