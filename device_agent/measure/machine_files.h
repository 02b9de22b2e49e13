// Files in which a machine tells of itself: texts of one line, in /proc and /sys.
#ifndef SLIPWAY_DEVICE_AGENT_MEASURE_MACHINE_FILES_H_
#define SLIPWAY_DEVICE_AGENT_MEASURE_MACHINE_FILES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace slipway {

// Without what is blank at both ends; empty when it cannot be read.
std::string ReadMachineText(const std::string& path);

// Errors of ReadFile; INVALID_ARGUMENT for what is no number.
absl::StatusOr<int64_t> ReadMachineNumber(const std::string& path);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_MEASURE_MACHINE_FILES_H_
