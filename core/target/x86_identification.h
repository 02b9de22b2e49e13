// What an x86-64 processor says of itself, and the target that follows.
#ifndef SLIPWAY_CORE_TARGET_X86_IDENTIFICATION_H_
#define SLIPWAY_CORE_TARGET_X86_IDENTIFICATION_H_

#include <cstdint>

#include "core/target/target.h"

namespace slipway {

// The registers of the CPUID leaves that matter (Intel SDM volume 2A, CPUID; AMD APM volume 3,
// appendix E), 0 where the processor lacks the leaf, and XCR0, 0 where the system has no XSAVE.
struct X86Identification {
  uint32_t leaf_1_ecx = 0;
  uint32_t leaf_7_ebx = 0;
  uint32_t leaf_7_ecx = 0;
  uint32_t leaf_7_edx = 0;
  uint32_t leaf_7_1_eax = 0;
  uint32_t leaf_80000001_ecx = 0;
  uint64_t xcr0 = 0;
};

// Bits of XCR0 that tile registers are saved by, which only processors with AMX-TILE have.
inline constexpr uint64_t kTileState = 0x60000;

// The target in canonical form. Vector features count only when XCR0 says that the operating system
// saves their registers.
DeviceTarget TargetOfX86(const X86Identification& identification, Os os);

}  // namespace slipway

#endif  // SLIPWAY_CORE_TARGET_X86_IDENTIFICATION_H_
