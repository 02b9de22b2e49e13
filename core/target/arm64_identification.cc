#include "core/target/arm64_identification.h"

#include "core/target/features.h"

namespace slipway {

DeviceTarget TargetOfArm64(const Arm64Identification& identification, Os os) {
  // Spelled out because older headers lack some.
  constexpr uint64_t kFpHp = 1u << 9, kAsimdHp = 1u << 10, kAsimdDp = 1u << 20, kSve = 1u << 22;
  constexpr uint64_t kSve2 = 1u << 1, kI8mm = 1u << 13, kBf16 = 1u << 14;
  const uint64_t hwcap = identification.hwcap;
  const uint64_t hwcap2 = identification.hwcap2;
  DeviceTarget device{.arch = Arch::kArm64, .os = os, .level = 0, .features = {}};
  const bool has_fp16 = (hwcap & kFpHp) != 0 && (hwcap & kAsimdHp) != 0;
  const bool has_sve = (hwcap & kSve) != 0 && has_fp16;
  if ((hwcap & kAsimdDp) != 0) device.features.emplace_back("dotprod");
  if (has_fp16) device.features.emplace_back("fp16");
  if (has_sve) device.features.emplace_back("sve");
  if (has_sve && (hwcap2 & kSve2) != 0) device.features.emplace_back("sve2");
  if ((hwcap2 & kI8mm) != 0) device.features.emplace_back("i8mm");
  if ((hwcap2 & kBf16) != 0) device.features.emplace_back("bf16");
  Canonicalize(device);
  return device;
}

}  // namespace slipway
