// Kernels of single groups, compiled, linked, loaded and run on one thread, to be measured.
#ifndef SLIPWAY_TESTS_BENCH_KERNEL_RUNS_H_
#define SLIPWAY_TESTS_BENCH_KERNEL_RUNS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/clock.h"
#include "core/codegen/linker.h"
#include "core/codegen/lowering.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/kernel_abi/kernel_abi.h"
#include "core/target/target.h"
#include "tests/codegen/program_memory.h"

namespace slipway::bench {

// Not thread-safe. Scratch memory of kernels is kept from run to run, as by the runtime.
class KernelRuns {
 public:
  // Of one kernel each graph. What Create is given is read there alone.
  static absl::StatusOr<KernelRuns> Create(const std::vector<Graph>& graphs,
                                           const DeviceTarget& target,
                                           const OperatorRegistry& registry,
                                           const Lowerings& lowerings, const Clock& clock);

  // How long the kernel of graphs[index] takes once. Its arguments hold 0.25 everywhere.
  absl::Duration Run(size_t index, const Clock& clock) const;

  // Where the instructions of all kernels are.
  absl::Span<const uint8_t> code() const { return program_->code(); }

 private:
  class Arguments;
  struct Kernel {
    slipway_kernel function;
    std::shared_ptr<Arguments> arguments;
  };

  std::shared_ptr<const LoadedProgram> program_;
  std::vector<Kernel> kernels_;
};

}  // namespace slipway::bench

#endif  // SLIPWAY_TESTS_BENCH_KERNEL_RUNS_H_
