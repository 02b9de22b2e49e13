// CpuContext: the steps of a program bound to memory.
#ifndef SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_CONTEXT_H_
#define SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/artifact/kernel_abi.h"
#include "core/runtime/context.h"
#include "core/runtime/drivers/cpu/arena.h"
#include "core/runtime/drivers/cpu/cpu_program.h"
#include "core/runtime/program.h"
#include "core/runtime/scratch.h"
#include "core/runtime/thread_pool.h"

namespace slipway {

// Everything a run needs is laid out once; a run sets the addresses of inputs and outputs and calls
// the kernels.
class CpuContext final : public ProgramContext {
 public:
  static absl::StatusOr<std::unique_ptr<ProgramContext>> Create(
      const CpuProgram& program, const ProgramContextOptions& options);

  absl::Status Run(absl::Span<const Tensor> inputs, absl::Span<Tensor> outputs) override;
  absl::Span<const int64_t> step_durations_ns() const override { return durations_ns_; }

 private:
  // A step, ready to be called.
  struct BoundStep {
    slipway_kernel kernel = nullptr;  // Null for a copy.
    // Of a kernel: the arguments, a range of argument_pointers_.
    size_t first_argument = 0;
    // Of a copy: indices of values.
    uint32_t from = 0;
    uint32_t to = 0;
    size_t bytes = 0;
  };

  CpuContext(const CpuProgram& program, const ProgramContextOptions& options,
             std::unique_ptr<Arena> arena);
  void BindValues();
  void BindSteps();
  void BindExternal(uint32_t value, const char* bytes);
  absl::Status CheckTensors(absl::Span<const Tensor> tensors, const std::vector<NamedType>& types,
                            absl::string_view what) const;
  int32_t RunStep(const BoundStep& step);
  absl::Status StepError(size_t index, int32_t result) const;

  const CpuProgram& program_;
  const bool profile_;
  const std::unique_ptr<Arena> arena_;
  ThreadPool threads_;
  Scratch scratch_;
  slipway_context context_;
  slipway_context* context_pointer_;  // What args[0] points to.

  // By index of value; every kernel that uses a value gets the same descriptor.
  std::vector<slipway_buffer> buffers_;
  std::vector<slipway_dimension> dimensions_;
  // By index of buffer: the values in it, for external buffers.
  std::vector<std::vector<uint32_t>> values_of_buffer_;

  std::vector<BoundStep> steps_;
  std::vector<void*> argument_pointers_;
  std::vector<int64_t> durations_ns_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_DRIVERS_CPU_CPU_CONTEXT_H_
