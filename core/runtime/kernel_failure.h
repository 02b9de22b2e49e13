// What a kernel that failed means.
#ifndef SLIPWAY_CORE_RUNTIME_KERNEL_FAILURE_H_
#define SLIPWAY_CORE_RUNTIME_KERNEL_FAILURE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace slipway {

struct KernelFailure {
  int32_t result = 0;  // Not SLIPWAY_OK.
  // What it said by slipway_imports.error; any bytes.
  absl::string_view text;
  // It was refused scratch memory, of which it may have so much.
  bool was_refused = false;
  int64_t scratch_bytes = 0;
};

// RESOURCE_EXHAUSTED for want of scratch memory; INVALID_ARGUMENT when it says so of its inputs; else INTERNAL.
absl::Status StatusOf(const KernelFailure& failure);

}  // namespace slipway

#endif  // SLIPWAY_CORE_RUNTIME_KERNEL_FAILURE_H_
