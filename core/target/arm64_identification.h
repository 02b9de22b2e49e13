// What Linux says of an arm-64 processor, and the target that follows.
#ifndef SLIPWAY_CORE_TARGET_ARM64_IDENTIFICATION_H_
#define SLIPWAY_CORE_TARGET_ARM64_IDENTIFICATION_H_

#include <cstdint>

#include "core/target/target.h"

namespace slipway {

// AT_HWCAP and AT_HWCAP2 of the auxiliary vector (Linux, arch/arm64/include/uapi/asm/hwcap.h).
struct Arm64Identification {
  uint64_t hwcap = 0;
  uint64_t hwcap2 = 0;
};

// The target in canonical form.
DeviceTarget TargetOfArm64(const Arm64Identification& identification, Os os);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_ARM64_IDENTIFICATION_H_
