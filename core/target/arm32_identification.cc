#include "core/target/arm32_identification.h"

#include "core/target/features.h"

namespace slipway {

DeviceTarget TargetOfArm32(uint64_t hwcap, Os os) {
  constexpr uint64_t kNeon = 1u << 12, kVfpv4 = 1u << 16;
  DeviceTarget device{.arch = Arch::kArm32, .os = os, .level = 0, .features = {}};
  const bool has_neon = (hwcap & kNeon) != 0;
  if (has_neon) device.features.emplace_back("neon");
  if (has_neon && (hwcap & kVfpv4) != 0) device.features.emplace_back("fma");
  Canonicalize(device);
  return device;
}

}  // namespace slipway
