// Numbers of bytes as people write them: "512MiB", "2GB", "4096".
#ifndef SLIPWAY_CORE_BASE_BYTE_SIZE_H_
#define SLIPWAY_CORE_BASE_BYTE_SIZE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace slipway {

// A decimal number, not negative, and at once a unit: none or B for bytes, KiB, MiB, GiB, TiB for powers of
// 1024, kB, MB, GB, TB for powers of 1000. Fractions are for units alone: "1.5GiB". INVALID_ARGUMENT for
// all else and for more than 2^63 - 1.
absl::StatusOr<int64_t> ParseByteSize(absl::string_view text);

// The shortest exact form with a power of 1024, which ParseByteSize reads back: "512MiB", "1000B".
std::string ExactByteSize(int64_t bytes);

// For people to read, three digits: "0 B", "1.21 MiB", "97.7 MiB".
std::string RoundByteSize(int64_t bytes);

}  // namespace slipway

#endif  // SLIPWAY_CORE_BASE_BYTE_SIZE_H_
