// What backends are given by whoever runs them.
#ifndef SLIPWAY_CORE_BACKENDS_BACKEND_ENVIRONMENT_H_
#define SLIPWAY_CORE_BACKENDS_BACKEND_ENVIRONMENT_H_

#include <cstdint>
#include <functional>

#include "absl/time/time.h"
#include "core/backends/keep_blob.h"
#include "core/base/clock.h"
#include "core/codegen/kernel_cache.h"
#include "core/graph/operator_column.h"
#include "core/graph/operator_registry.h"

namespace slipway {

struct Lowering;  // core/codegen/lowering.h

// What is pointed to outlives the backends.
struct BackendEnvironment {
  const OperatorRegistry* registry = nullptr;
  // Of operators that core/operators does not have, beside the backend's own lowerings; null for none.
  const OperatorColumn<Lowering>* own_lowerings = nullptr;
  const Clock* clock = nullptr;
  KernelCache* kernel_cache = nullptr;  // Null for none.
  int max_processes = 2;                // Kernels compiled at once.
  absl::Duration kernel_deadline = absl::Seconds(60);
  int64_t kernel_memory_bytes = int64_t{2} << 30;  // Address space that compiling one may add.
  // Told of every kernel that was compiled: `done` of `total` different ones are there. May be empty.
  std::function<void(int64_t done, int64_t total)> kernel_progress;
  KeepBlob keep_blob = KeepInMemory;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_BACKENDS_BACKEND_ENVIRONMENT_H_
