// KernelCompiler: from groups to object files, a process a kernel.
//
// Halide numbers the names it makes by counters of the process, and its failures include crashes,
// endless loops and memory without bound. So every kernel is compiled in a child forked from one and
// the same state: its bytes then depend on its key alone, whatever else is compiled, in what order and
// how many at once, and whatever goes wrong in it is a typed error of that kernel.
//
// That rests on two rules for the process that calls Compile: it has one thread (a fork copies only the
// caller's; the compile worker compiles in a process of its own for this), and it uses Halide for
// nothing else.
#ifndef SLIPWAY_CORE_CODEGEN_KERNEL_COMPILER_H_
#define SLIPWAY_CORE_CODEGEN_KERNEL_COMPILER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/codegen/kernel_cache.h"
#include "core/codegen/lowering.h"
#include "core/graph/graph.h"
#include "core/graph/operator_registry.h"
#include "core/kernel_abi/kernel_scratch.h"
#include "core/schedules/kernel_schedule.h"
#include "core/target/target.h"
#include "core/tensor/precision.h"

namespace slipway {

struct KernelRequest {
  std::string name;             // For messages: the group's node.
  const Graph* body = nullptr;  // The group, not normalized. Must outlive the call.
  // What products of f32 are made in, where it is not f32: by tensor cores, from a template (tensor_cores/tensor_core_kernel.h).
  Precision products = Precision::kFloat32;
};

struct CompiledKernel {
  Digest key;
  std::string symbol;  // Of the kernel_abi.h function in `object`.
  // A relocatable object file; see linker.h for what it may refer to. Of a device that is no host: FormatDeviceKernel.
  std::string object;
  std::string name;      // KernelName.
  std::string schedule;  // How its loops are cut, as ScheduleRecords have it.
  // How else they may be: schedules that a record may say, near that one, the likeliest first.
  std::vector<std::string> candidates;
  KernelScratch scratch;  // ScratchBytes, of machine code.
};

// What a KernelCompiler did so far.
struct KernelCounters {
  int64_t compiled = 0;  // By running Halide, or from a template.
  int64_t cached = 0;    // Taken from the cache.
  int64_t shared = 0;    // Requests answered by another request of the same call.
  int64_t recorded = 0;  // Whose schedule was in a record.
};

// UNIMPLEMENTED names what kernels cannot be generated for.
absl::Status CheckCanGenerate(const DeviceTarget& target);

// Not thread-safe.
class KernelCompiler {
 public:
  struct Options {
    int max_processes = 2;                          // Children at once.
    absl::Duration deadline = absl::Seconds(60);    // For one kernel.
    int64_t memory_limit_bytes = int64_t{2} << 30;  // Address space one child may add.
    // Called whenever a kernel was compiled: how many of all different ones are there. May be empty.
    std::function<void(int64_t done, int64_t total)> progress = {};
  };

  // What is pointed to must outlive the compiler; `cache` may be null.
  KernelCompiler(const OperatorRegistry& registry, const Lowerings& lowerings, const Clock& clock,
                 KernelCache* cache, Options options);

  // One kernel a request, in order; equal kernels are compiled once, with the schedule that `records` has for them or, by
  // default, that of the machine's model. Errors name the request and its operators: those of CheckGroup and MakeTensorCoreKernel; INVALID_ARGUMENT for
  // a record that is wrong for its kernel; DEADLINE_EXCEEDED; RESOURCE_EXHAUSTED when the child ran out of memory; INTERNAL
  // when it crashed or Halide refused the pipeline, with the end of its log.
  absl::StatusOr<std::vector<CompiledKernel>> Compile(absl::Span<const KernelRequest> requests,
                                                      const DeviceTarget& target,
                                                      const ScheduleRecords& records = {});

  const KernelCounters& counters() const { return counters_; }

 private:
  const OperatorRegistry& registry_;
  const Lowerings& lowerings_;
  const Clock& clock_;
  KernelCache* const cache_;
  const Options options_;
  KernelCounters counters_;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_KERNEL_COMPILER_H_
