// What Linux says of an arm-32 processor, and the target that follows.
#ifndef SLIPWAY_CORE_TARGET_ARM32_IDENTIFICATION_H_
#define SLIPWAY_CORE_TARGET_ARM32_IDENTIFICATION_H_

#include <cstdint>

#include "core/target/target.h"

namespace slipway {

// The target in canonical form, of AT_HWCAP of the auxiliary vector (Linux, arch/arm/include/uapi/asm/hwcap.h).
DeviceTarget TargetOfArm32(uint64_t hwcap, Os os);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_ARM32_IDENTIFICATION_H_
