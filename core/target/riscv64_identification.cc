#include "core/target/riscv64_identification.h"

#include "core/target/features.h"

namespace slipway {

DeviceTarget TargetOfRiscv64(uint64_t hwcap, Os os) {
  constexpr uint64_t kV = 1u << ('V' - 'A');  // One bit for each extension of a single letter.
  DeviceTarget device{.arch = Arch::kRiscv64, .os = os, .level = 0, .features = {}};
  if ((hwcap & kV) != 0) device.features.emplace_back("v");
  Canonicalize(device);
  return device;
}

}  // namespace slipway
