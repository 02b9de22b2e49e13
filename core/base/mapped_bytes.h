// How much address space a process has taken, which RLIMIT_AS bounds.
#ifndef SLIPWAY_CORE_BASE_MAPPED_BYTES_H_
#define SLIPWAY_CORE_BASE_MAPPED_BYTES_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace slipway {

// Of this process. An error where /proc cannot be read.
absl::StatusOr<int64_t> MappedBytes();

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_MAPPED_BYTES_H_
